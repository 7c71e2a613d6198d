import {
  changeProbes,
  createPlan,
  type LiveProbe,
  type Move,
  mayHaveHad,
  needOf,
  ownerOf,
  place,
  type RegionPlan,
  remove,
} from './plan.ts'
import { changedSince, createRoster, type Entry, enter, type Roster } from './roster.ts'

/** Everything a fleet process knows of who checks what: all monitors, and the plan of each region. */
export type Book = { roster: Roster; plans: Map<string, RegionPlan> }

/** `changed`: the monitor itself; `moved`: only the probe that checks it. */
export type Why = 'changed' | 'moved'

/** A probe's assignments differ from what it had in this monitor. */
export type Mark = { probeId: string; monitorId: string; why: Why }

/** A region's live set; `epoch` moves with the set and with what its probes can do. */
export type RegionEpoch = { region: string; epoch: number; probes: LiveProbe[] }

export const createBook = (): Book => ({ roster: createRoster(), plans: new Map() })

export function planOf(book: Book, region: string): RegionPlan {
  const known = book.plans.get(region)
  if (known) return known
  const plan = createPlan()
  book.plans.set(region, plan)
  return plan
}

/** Of each region, how many monitors are to be checked and how many of them no live probe can check. */
export const countsOf = ({ plans }: Book) =>
  [...plans].map(([region, { placed, orphans }]) => ({ region, monitors: placed.size, unassigned: orphans.size }))

/** Takes in a new or changed monitor; names the probes that have to hear of it. */
export function enterMonitor(book: Book, entry: Entry): Mark[] {
  const before = enter(book.roster, entry)
  const marks: Mark[] = []
  const mark = (probeId: string | null) => {
    if (probeId !== null) marks.push({ probeId, monitorId: entry.id, why: 'changed' })
  }
  for (const region of before?.regions ?? []) {
    if (!entry.regions.includes(region)) mark(remove(planOf(book, region), entry.id))
  }
  for (const region of entry.regions) {
    const { from, to } = place(planOf(book, region), entry.id, needOf(entry.spec))
    mark(to)
    if (from !== to) mark(from)
  }
  return marks
}

/**
 * Takes in a region's live set, in turns (plan.ts); yields the probes that lose or get monitors. Older epochs than the
 * known are ignored.
 */
export function* enterEpoch(book: Book, { region, epoch, probes }: RegionEpoch): Generator<Mark[], void> {
  const plan = planOf(book, region)
  if (epoch <= plan.epoch) return
  for (const moves of changeProbes(plan, epoch, probes)) yield moves.flatMap(marksOf)
}

const marksOf = ({ monitorId, from, to }: Move): Mark[] =>
  [from, to].flatMap(probeId => (probeId === null ? [] : [{ probeId, monitorId, why: 'moved' as const }]))

/** The monitor when this probe has to check it now, else null. */
export function assignedEntry(book: Book, region: string, probeId: string, monitorId: string): Entry | null {
  if (ownerOf(planOf(book, region), monitorId) !== probeId) return null
  return book.roster.entries.get(monitorId) ?? null
}

/**
 * The monitors that changed after a revision as far as they concern one probe: those that it checks now, and those that
 * it may have checked before. To hear of too many costs a few bytes, of too few a check that nobody asked for.
 */
export function changedFor(book: Book, region: string, probeId: string, revision: number): string[] {
  const plan = planOf(book, region)
  return changedSince(book.roster, revision).filter(
    id => ownerOf(plan, id) === probeId || mayHaveHad(plan, probeId, id),
  )
}
