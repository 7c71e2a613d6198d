import type { IncidentRecord } from '../../../verdict/incidents/store.ts'

type SpanMs = { fromMs: number; toMs: number }

/** The times around the start and the end of an incident of which checks are listed. `end` is null while it lasts. */
export type CheckSpans = { start: SpanMs; end: SpanMs | null }

/** How much earlier than the start transitions are listed: the first failure is always in this range. */
export const BEFORE_MS = 3_600_000
/** Where no transition shows the interval of the monitor. */
const DEFAULT_INTERVAL_MS = 60_000
const INTERVALS_BEFORE = 3

type Incident = Pick<IncidentRecord, 'started_at' | 'resolved_at'>
type Change = { to: string | null; at: Date; first_failure_at: Date | null; interval_seconds: number }

/**
 * From three intervals before the first failure to one interval after the decision, and the same around the end. At most
 * an hour before the start.
 */
export function computeCheckSpans({ started_at, resolved_at }: Incident, transitions: readonly Change[]): CheckSpans {
  const startMs = started_at.getTime()
  const intervalMs = Math.max(0, ...transitions.map(one => one.interval_seconds * 1_000)) || DEFAULT_INTERVAL_MS
  const failures = transitions
    .filter(({ to, at }) => to === 'down' && at.getTime() <= startMs + intervalMs)
    .flatMap(({ first_failure_at }) => first_failure_at?.getTime() ?? [])
    .filter(ms => ms >= startMs - BEFORE_MS)
  const firstMs = Math.min(startMs, ...failures)
  const before = INTERVALS_BEFORE * intervalMs
  const start = { fromMs: Math.max(startMs - BEFORE_MS, firstMs - before), toMs: startMs + intervalMs }
  if (resolved_at === null) return { start, end: null }
  const endMs = resolved_at.getTime()
  return { start, end: { fromMs: Math.max(start.toMs + 1, endMs - before), toMs: endMs + intervalMs } }
}
