import type { Metrics } from '../../../shared/process/metrics.ts'

export type SourceMetrics = ReturnType<typeof createSourceMetrics>

export function createSourceMetrics(metrics: Metrics) {
  return {
    fetches: metrics.counter('picket_data_source_fetches_total', 'Fetches of data sources by outcome', ['outcome']),
    inFlight: metrics.gauge('picket_data_source_fetches_in_flight', 'Fetches of data sources in flight'),
    late: metrics.histogram(
      'picket_data_source_late_seconds',
      'Delay between the due time and the fetch of a data source',
      [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    ),
    historyDropped: metrics.counter(
      'picket_data_source_history_dropped_total',
      'Fetches without history, because NATS was unreachable for too long',
    ),
  }
}
