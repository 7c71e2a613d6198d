import { absencesOf } from '../verdict/absences.ts'
import type { Absence, Absences } from '../verdict/types.ts'
import type { RegionNow } from './live-sets-store.ts'
import type { Memory } from './memory.ts'
import { withAbsences } from './policy.ts'

/** Which regions are without a probe, as one process knows it; the same map as long as nothing changes. */
export type KnownAbsences = { absences: Absences; readMs: number }

/** Two readings of the same moment differ by less, in ms. More: a clock was set in between. */
const SAME_MS = 2_000
/** A process knows the new time so long after JetStream's clock was set. */
const CLOCK_KNOWN_MS = 3_000

/**
 * The absences in JetStream's time, of which it is `logNowMs` now. The database says how long ago each was, so that they move
 * with JetStream's clock when it is set.
 */
export function absencesNow(before: Absences, rows: readonly RegionNow[], logNowMs: number): Absences {
  const now = new Map<string, Absence>()
  for (const { region, absentForMs, backForMs } of rows) {
    if (absentForMs === null) continue
    const untilMs = backForMs === null ? Number.POSITIVE_INFINITY : logNowMs - backForMs
    const absence = { fromMs: logNowMs - absentForMs, untilMs }
    const known = before.get(region)
    now.set(region, known && isSame(known, absence) ? known : absence)
  }
  const isUnchanged = now.size === before.size && [...now].every(([region, one]) => before.get(region) === one)
  return isUnchanged ? before : now
}

const isSame = (a: Absence, b: Absence) =>
  Math.abs(a.fromMs - b.fromMs) < SAME_MS && (a.untilMs === b.untilMs || Math.abs(a.untilMs - b.untilMs) < SAME_MS)

/** After JetStream's clock was set by `stepMs`, until they are read again. */
export const afterStep = (absences: Absences, stepMs: number): Absences =>
  new Map(
    [...absences].map(([region, { fromMs, untilMs }]) => [
      region,
      { fromMs: fromMs + stepMs, untilMs: untilMs + stepMs },
    ]),
  )

/** What was read before this process knew the new time is by the old one. */
export const isByNewClock = ({ readMs }: KnownAbsences, steppedMs: number): boolean =>
  readMs > steppedMs + CLOCK_KNOWN_MS

/** Tells the policies of monitors which of their regions have no probe; of all monitors, or of some. */
export function heedAbsences(memory: Memory, absences: Absences, ids: Iterable<string> = memory.keys()): void {
  for (const id of ids) {
    const watch = memory.get(id)
    if (!watch?.policy) continue
    const ours = absencesOf(watch.policy, absences)
    if (ours !== null || watch.policy.absences) watch.policy = withAbsences(watch.policy, ours)
  }
}
