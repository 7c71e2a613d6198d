import { selectAbsences } from '../../core/rules/absences.ts'
import type { RegionAbsence, RegionAbsences } from '../../core/types.ts'
import { withAbsences } from '../counting/policy.ts'
import type { TrackedMonitors } from '../counting/tracked-monitors.ts'
import type { RegionEpochRow } from './live-sets-store.ts'

/**
 * Which regions are without a probe, as one process knows it. `absences` is the same map until something changes. `known`: by
 * which times of the database each was known first; `offsetMs`: how far JetStream's clock was ahead of the monotonic one then.
 */
export type KnownAbsences = {
  absences: RegionAbsences
  known: ReadonlyMap<string, { from: string; until: string | null }>
  offsetMs: number
  readMs: number
}

export const createKnownAbsences = (): KnownAbsences => ({
  absences: new Map(),
  known: new Map(),
  offsetMs: 0,
  readMs: Number.NEGATIVE_INFINITY,
})

/** JetStream's clock was set when it is ahead of the monotonic one by so much more or less, in ms. */
const CLOCK_TOLERANCE_MS = 2_000
/** A process knows the new time so long after JetStream's clock was set. */
const CLOCK_SETTLE_MS = 5_000

/**
 * The absences in JetStream's time. The database says how long ago each was; what a process has seen once stays where it was,
 * whatever PostgreSQL's clock says later, and moves with JetStream's clock when that is set. One that ended in the future
 * is by a clock that has been set back since, and says nothing.
 */
export function updateAbsences(
  before: KnownAbsences,
  rows: readonly RegionEpochRow[],
  { logMs, monotonicMs }: { logMs: number; monotonicMs: number },
): KnownAbsences {
  const movedMs = logMs - monotonicMs - before.offsetMs
  const stepMs = Math.abs(movedMs) < CLOCK_TOLERANCE_MS ? 0 : movedMs
  const now = new Map<string, RegionAbsence>()
  const known = new Map<string, { from: string; until: string | null }>()
  for (const row of rows) {
    const absence = computeAbsence(before, row, logMs, stepMs)
    if (absence === null) continue
    now.set(row.region, absence)
    known.set(row.region, { from: row.absentFrom!, until: row.absentUntil })
  }
  const isUnchanged =
    now.size === before.absences.size && [...now].every(([region, one]) => before.absences.get(region) === one)
  return {
    absences: isUnchanged ? before.absences : now,
    known,
    offsetMs: before.offsetMs + stepMs,
    readMs: monotonicMs,
  }
}

function computeAbsence(
  before: KnownAbsences,
  { region, absentFrom, absentUntil, absentForMs, backForMs }: RegionEpochRow,
  logMs: number,
  stepMs: number,
): RegionAbsence | null {
  if (absentFrom === null || absentForMs === null) return null
  const last = before.known.get(region)
  const seen = last?.from === absentFrom ? before.absences.get(region) : undefined
  if (seen && last?.until === absentUntil) {
    return stepMs === 0 ? seen : { fromMs: seen.fromMs + stepMs, untilMs: seen.untilMs + stepMs }
  }
  if (!seen && backForMs !== null && backForMs < 0) return null
  const fromMs = seen ? seen.fromMs + stepMs : logMs - Math.max(0, absentForMs)
  const untilMs = backForMs === null ? Number.POSITIVE_INFINITY : logMs - Math.max(0, backForMs)
  return { fromMs, untilMs }
}

/** After JetStream's clock was set by `stepMs`, until they are read again. */
export const shiftAbsences = (absences: RegionAbsences, stepMs: number): RegionAbsences =>
  new Map(
    [...absences].map(([region, { fromMs, untilMs }]) => [
      region,
      { fromMs: fromMs + stepMs, untilMs: untilMs + stepMs },
    ]),
  )

/** What was read before this process knew the new time is by the old one. */
export const isReadAfterStep = ({ readMs }: Pick<KnownAbsences, 'readMs'>, steppedMs: number): boolean =>
  readMs > steppedMs + CLOCK_SETTLE_MS

/** Notes in the policies of monitors which of their regions have no probe. `ids`: these monitors; default: all. */
export function applyAbsences(
  memory: TrackedMonitors,
  absences: RegionAbsences,
  ids: Iterable<string> = memory.keys(),
): void {
  for (const id of ids) {
    const tracked = memory.get(id)
    if (!tracked?.policy) continue
    const own = selectAbsences(tracked.policy, absences)
    if (own !== null || tracked.policy.absences) tracked.policy = withAbsences(tracked.policy, own)
  }
}
