import type { Metrics } from '../../../shared/process/metrics.ts'

export type CanaryMetrics = ReturnType<typeof createCanaryMetrics>

export function createCanaryMetrics(metrics: Metrics) {
  return {
    outages: metrics.counter('picket_canary_outages_total', 'Planned failures of canaries by outcome', [
      'region',
      'kind',
      'outcome',
    ]),
    guarantees: metrics.counter(
      'picket_canary_guarantees_total',
      'Planned failures of canaries by comparison with the guarantee',
      ['region', 'kind', 'guarantee'],
    ),
    detection: metrics.histogram(
      'picket_canary_detection_seconds',
      'Seconds from the planned start or end of a failure to the result, the status and the alert',
      [1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600],
      ['region', 'kind', 'turn', 'stage'],
    ),
  }
}
