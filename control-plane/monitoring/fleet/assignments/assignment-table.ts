import {
  createMonitorIndex,
  type IndexedMonitor,
  indexMonitor,
  listChangedSince,
  type MonitorIndex,
} from './monitor-index.ts'
import {
  type AssignmentMove,
  applyProbes,
  createRegionPlan,
  findOwner,
  getRequiredCapability,
  type LiveProbe,
  mayHaveOwned,
  placeMonitor,
  type RegionPlan,
  removeMonitor,
} from './region-plan.ts'

/** Everything a fleet process knows of who checks what: all monitors, and the plan of each region. */
export type AssignmentTable = { monitors: MonitorIndex; plans: Map<string, RegionPlan> }

/** `changed`: the monitor itself; `moved`: only the probe that checks it. */
export type ChangeReason = 'changed' | 'moved'

/** A probe's assignments differ from what it had in this monitor. */
export type AssignmentChange = { probeId: string; monitorId: string; why: ChangeReason }

/** A region's live set; `epoch` moves with the set and with what its probes can do. */
export type RegionEpoch = { region: string; epoch: number; probes: LiveProbe[] }

export const createAssignmentTable = (): AssignmentTable => ({ monitors: createMonitorIndex(), plans: new Map() })

export function getRegionPlan(table: AssignmentTable, region: string): RegionPlan {
  const known = table.plans.get(region)
  if (known) return known
  const plan = createRegionPlan()
  table.plans.set(region, plan)
  return plan
}

/** Of each region, how many monitors are to be checked and how many of them no live probe can check. */
export const countByRegion = ({ plans }: AssignmentTable) =>
  [...plans].map(([region, { placements: placed, unassigned }]) => ({
    region,
    monitors: placed.size,
    unassigned: unassigned.size,
  }))

/** Takes in a new or changed monitor; names the probes that have to hear of it. */
export function applyMonitor(table: AssignmentTable, entry: IndexedMonitor): AssignmentChange[] {
  const before = indexMonitor(table.monitors, entry)
  const marks: AssignmentChange[] = []
  const mark = (probeId: string | null) => {
    if (probeId !== null) marks.push({ probeId, monitorId: entry.id, why: 'changed' })
  }
  for (const region of before?.regions ?? []) {
    if (!entry.regions.includes(region)) mark(removeMonitor(getRegionPlan(table, region), entry.id))
  }
  for (const region of entry.regions) {
    const { from, to } = placeMonitor(getRegionPlan(table, region), entry.id, getRequiredCapability(entry.spec))
    mark(to)
    if (from !== to) mark(from)
  }
  return marks
}

/**
 * Takes in a region's live set, in turns (plan.ts); yields the probes that lose or get monitors. Older epochs than the
 * known are ignored.
 */
export function* applyLiveSet(
  table: AssignmentTable,
  { region, epoch, probes }: RegionEpoch,
): Generator<AssignmentChange[], void> {
  const plan = getRegionPlan(table, region)
  if (epoch <= plan.epoch) return
  for (const moves of applyProbes(plan, epoch, probes)) yield moves.flatMap(toAssignmentChanges)
}

const toAssignmentChanges = ({ monitorId, from, to }: AssignmentMove): AssignmentChange[] =>
  [from, to].flatMap(probeId => (probeId === null ? [] : [{ probeId, monitorId, why: 'moved' as const }]))

/** The monitor when this probe has to check it now, else null. */
export function findAssignedMonitor(
  table: AssignmentTable,
  region: string,
  probeId: string,
  monitorId: string,
): IndexedMonitor | null {
  if (findOwner(getRegionPlan(table, region), monitorId) !== probeId) return null
  return table.monitors.entries.get(monitorId) ?? null
}

/**
 * The monitors that changed after a revision as far as they concern one probe: those that it checks now, and those that
 * it may have checked before. To hear of too many costs a few bytes, of too few a check that nobody asked for.
 */
export function listChangesForProbe(
  table: AssignmentTable,
  region: string,
  probeId: string,
  revision: number,
): string[] {
  const plan = getRegionPlan(table, region)
  return listChangedSince(table.monitors, revision).filter(
    id => findOwner(plan, id) === probeId || mayHaveOwned(plan, probeId, id),
  )
}
