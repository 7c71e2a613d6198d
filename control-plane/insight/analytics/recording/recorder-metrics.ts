import type { Metrics } from '../../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'

export type RecorderMetrics = ReturnType<typeof createRecorderMetrics>

export function createRecorderMetrics(metrics: Metrics) {
  const setAside = metrics.counter('picket_results_unrecordable_total', 'Results set aside, not written', ['reason'])
  return {
    recorded: metrics.counter('picket_results_recorded_total', 'Results written to ClickHouse', ['stream']),
    late: metrics.counter('picket_results_late_total', 'Results written, too late for a verdict', ['region']),
    setAside: initializeCounter(setAside, 'reason', [
      'unreadable',
      'malformed',
      'too_old',
      'in_future',
      'refused',
      'foreign',
      'left_region',
    ]),
  }
}
