import type { Percentiles } from '../../canaries/figures-store.ts'
import type { Kind } from '../../canaries/schedule.ts'
import { HOLDS_WHILE } from '../../monitors/guarantee-record.ts'
import { TRUST_DAYS, type Trust, tenths } from './trust.ts'

/** Kinds of outages as programs read them. */
const NAMES: Record<Kind, string> = {
  refuse: 'refused',
  status: 'status_503',
  wrong: 'wrong_answer',
  slow: 'slow',
  hang: 'hanging',
}

/** The page as a document for programs. All lengths are seconds; null where outages were not noticed or not reported. */
export function trustDocument({ at, pace, rows, compared, misses, lastMiss }: Trust) {
  return {
    read_at: at,
    days: TRUST_DAYS,
    settings: {
      interval_seconds: pace.intervalMs / 1_000,
      timeout_ms: pace.timeoutMs,
      retry_count: pace.retryCount,
    },
    holds_while: HOLDS_WHILE,
    outages: rows.map(({ kind, limits, measured }) => ({
      kind: NAMES[kind],
      guaranteed: { down_within: tenths(limits.downWithin), message_within: tenths(limits.messageWithin) },
      measured: measured && {
        outages: measured.outages,
        down: rounded(measured.down),
        message: rounded(measured.message),
      },
    })),
    compared,
    misses,
    last_miss: lastMiss && {
      kind: NAMES[lastMiss.kind],
      started_at: lastMiss.startedAt.toISOString(),
      late_seconds: lastMiss.lateSeconds === null ? null : tenths(lastMiss.lateSeconds),
    },
  }
}

function rounded({ p50, p95, p99 }: Percentiles) {
  const round = (seconds: number | null) => (seconds === null ? null : tenths(seconds))
  return { p50: round(p50), p95: round(p95), p99: round(p99) }
}
