import {
  CANARY_INTERVAL_SECONDS,
  CANARY_TIMEOUT_MS,
  DEFAULT_SCHEDULE,
} from '../../control-plane/insight/canaries/schedule.ts'
import { buildTrustReport, type TrustInput, type TrustReport } from '../../control-plane/pages/public/trust/trust.ts'

const NOW = new Date('2026-11-21T14:05:30Z')
const of = (p50: number, p95: number, p99: number | null) => ({ p50, p95, p99 })
const counted = { outages: 576, compared: 576 }

/** Measurements of a month in six regions. */
export const ORDINARY: TrustInput = {
  canaries: [
    { ...DEFAULT_SCHEDULE, intervalSeconds: CANARY_INTERVAL_SECONDS, timeoutMs: CANARY_TIMEOUT_MS, retryCount: 2 },
  ],
  figures: [
    { kind: 'refuse', ...counted, misses: 0, down: of(19.1, 32.6, 33.9), message: of(19.2, 32.7, 34) },
    { kind: 'status', ...counted, misses: 0, down: of(19.2, 32.7, 34.1), message: of(19.3, 32.8, 34.2) },
    { kind: 'wrong', ...counted, misses: 0, down: of(19.4, 32.5, 34.2), message: of(19.5, 32.6, 34.3) },
    { kind: 'slow', ...counted, misses: 0, down: of(36.6, 49.9, 58.34), message: of(36.7, 50, 58.4) },
    { kind: 'hang', ...counted, misses: 0, down: of(31.7, 45.1, 46.9), message: of(31.8, 45.2, 47) },
  ],
  lastMiss: null,
}

/** Some outages were late, and more than one of 100 hanging ones was not detected. */
export const WITH_MISSES: TrustInput = {
  ...ORDINARY,
  figures: ORDINARY.figures.map(one =>
    one.kind === 'hang' ? { ...one, misses: 7, down: of(31.7, 51.4, null), message: of(31.8, 53, null) } : one,
  ),
  lastMiss: { kind: 'hang', startedAt: new Date('2026-11-19T03:12:09Z'), lateSeconds: 11.62 },
}

export const EMPTY: TrustInput = { canaries: [], figures: [], lastMiss: null }

export const trustWith = (facts: TrustInput): TrustReport => buildTrustReport(facts, NOW)
