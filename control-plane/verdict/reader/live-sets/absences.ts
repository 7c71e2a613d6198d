import { selectAbsences } from '../../core/rules/absences.ts'
import type { RegionAbsence, RegionAbsences } from '../../core/types.ts'
import { withAbsences } from '../counting/policy.ts'
import type { TrackedMonitors } from '../counting/tracked-monitors.ts'
import type { RegionEpochRow } from './live-sets-store.ts'

/**
 * The regions without a probe, as one process knows them. `absences` is the same map until something changes. `known`:
 * the times in the database from which each absence was computed. `offsetMs`: how far JetStream's clock was ahead of
 * the monotonic clock then.
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

/** JetStream's clock was set if its distance to the monotonic clock changes by at least this, in ms. */
const CLOCK_TOLERANCE_MS = 2_000
/** A process has the new time at the latest this long after JetStream's clock was set, in ms. */
const CLOCK_SETTLE_MS = 5_000

/**
 * The absences in JetStream time. The database returns how long ago each was. A known absence keeps its time, whatever
 * PostgreSQL's clock says later, and moves with JetStream's clock when that is set. An absence that ended in the future
 * is from before PostgreSQL's clock was set back, and is ignored.
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

/** The absences after JetStream's clock was set by `stepMs`, until they are read again. */
export const shiftAbsences = (absences: RegionAbsences, stepMs: number): RegionAbsences =>
  new Map(
    [...absences].map(([region, { fromMs, untilMs }]) => [
      region,
      { fromMs: fromMs + stepMs, untilMs: untilMs + stepMs },
    ]),
  )

/** Whether the absences were read when this process already had the new time. */
export const isReadAfterStep = ({ readMs }: Pick<KnownAbsences, 'readMs'>, steppedMs: number): boolean =>
  readMs > steppedMs + CLOCK_SETTLE_MS

/** Sets the absent regions in the policies of monitors. `ids`: the monitors; defaults to all. */
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
