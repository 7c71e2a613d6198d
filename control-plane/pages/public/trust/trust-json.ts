import type { Percentiles } from '../../../insight/canaries/measurement/statistics-store.ts'
import type { FailureKind } from '../../../insight/canaries/schedule.ts'
import { GUARANTEE_CONDITIONS } from '../../../monitoring/monitors/responses/guarantee-record.ts'
import { roundUpToTenth, TRUST_DAYS, type TrustReport } from './trust.ts'

/** Kinds of outages in JSON. */
const NAMES: Record<FailureKind, string> = {
  refuse: 'refused',
  status: 'status_503',
  wrong: 'wrong_answer',
  slow: 'slow',
  hang: 'hanging',
}

/** The page as JSON. All durations are seconds; null when outages were not detected or not reported. */
export function toTrustJson({ at, pace, rows, compared, misses, lastMiss }: TrustReport) {
  return {
    read_at: at,
    days: TRUST_DAYS,
    settings: {
      interval_seconds: pace.intervalMs / 1_000,
      timeout_ms: pace.timeoutMs,
      retry_count: pace.retryCount,
    },
    holds_while: GUARANTEE_CONDITIONS,
    outages: rows.map(({ kind, limits, measured }) => ({
      kind: NAMES[kind],
      guaranteed: {
        down_within: roundUpToTenth(limits.downWithin),
        message_within: roundUpToTenth(limits.messageWithin),
      },
      measured: measured && {
        outages: measured.outages,
        down: roundPercentiles(measured.down),
        message: roundPercentiles(measured.message),
      },
    })),
    compared,
    misses,
    last_miss: lastMiss && {
      kind: NAMES[lastMiss.kind],
      started_at: lastMiss.startedAt.toISOString(),
      late_seconds: lastMiss.lateSeconds === null ? null : roundUpToTenth(lastMiss.lateSeconds),
    },
  }
}

function roundPercentiles({ p50, p95, p99 }: Percentiles) {
  const round = (seconds: number | null) => (seconds === null ? null : roundUpToTenth(seconds))
  return { p50: round(p50), p95: round(p95), p99: round(p99) }
}
