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

/** All monitors, and for each region the plan that maps them to probes. */
export type AssignmentTable = { monitors: MonitorIndex; plans: Map<string, RegionPlan> }

/** `changed`: the monitor changed; `moved`: only its probe changed. */
export type ChangeReason = 'changed' | 'moved'

/** A monitor whose assignment to a probe changed. */
export type AssignmentChange = { probeId: string; monitorId: string; why: ChangeReason }

/** A region's live set. `epoch` changes with the set and with the capabilities of its probes. */
export type RegionEpoch = { region: string; epoch: number; probes: LiveProbe[] }

export const createAssignmentTable = (): AssignmentTable => ({ monitors: createMonitorIndex(), plans: new Map() })

export function getRegionPlan(table: AssignmentTable, region: string): RegionPlan {
  const known = table.plans.get(region)
  if (known) return known
  const plan = createRegionPlan()
  table.plans.set(region, plan)
  return plan
}

/** Counts for each region the monitors to check, and those among them that no live probe can check. */
export const countByRegion = ({ plans }: AssignmentTable) =>
  [...plans].map(([region, { placements, unassigned }]) => ({
    region,
    monitors: placements.size,
    unassigned: unassigned.size,
  }))

/** Applies a new or changed monitor. Returns the probes that must be notified. */
export function applyMonitor(table: AssignmentTable, entry: IndexedMonitor): AssignmentChange[] {
  const before = indexMonitor(table.monitors, entry)
  const changes: AssignmentChange[] = []
  const addChange = (probeId: string | null) => {
    if (probeId !== null) changes.push({ probeId, monitorId: entry.id, why: 'changed' })
  }
  for (const region of before?.regions ?? []) {
    if (!entry.regions.includes(region)) addChange(removeMonitor(getRegionPlan(table, region), entry.id))
  }
  for (const region of entry.regions) {
    const { from, to } = placeMonitor(getRegionPlan(table, region), entry.id, getRequiredCapability(entry.spec))
    addChange(to)
    if (from !== to) addChange(from)
  }
  return changes
}

/**
 * Applies a region's live set step by step (region-plan.ts). Yields the probes that lose or get monitors. Epochs that are
 * not newer than the known one are ignored.
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

/** Returns the monitor when it is assigned to this probe, else null. */
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
 * Lists the monitors that changed after a revision and concern one probe: those that it checks now, and those that it may
 * have checked before. An id too many costs a few bytes. A missing id would leave a probe with a check that it should no
 * longer run.
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
