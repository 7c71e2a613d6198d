import type { Metrics } from '../../../shared/process/metrics.ts'

export type CanaryMetrics = ReturnType<typeof createCanaryMetrics>

export function createCanaryMetrics(metrics: Metrics) {
  return {
    outages: metrics.counter('picket_canary_outages_total', 'Planned failures by what came of them', [
      'region',
      'kind',
      'outcome',
    ]),
    guarantees: metrics.counter(
      'picket_canary_guarantees_total',
      'Planned failures by whether they were noticed and reported within the guarantee',
      ['region', 'kind', 'guarantee'],
    ),
    detection: metrics.histogram(
      'picket_canary_detection_seconds',
      'From the planned moment of a failure or its end to the result, the status and the alert',
      [1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600],
      ['region', 'kind', 'turn', 'stage'],
    ),
  }
}
