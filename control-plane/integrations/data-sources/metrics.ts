import type { Metrics } from '../../../shared/process/metrics.ts'

export type SourceMetrics = ReturnType<typeof createSourceMetrics>

export function createSourceMetrics(metrics: Metrics) {
  return {
    fetches: metrics.counter('picket_data_source_fetches_total', 'Fetches of data sources by what came of them', [
      'outcome',
    ]),
    inFlight: metrics.gauge('picket_data_source_fetches_in_flight', 'Data sources that are being fetched'),
    late: metrics.histogram(
      'picket_data_source_late_seconds',
      'How long after its time a data source was fetched',
      [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    ),
    historyDropped: metrics.counter(
      'picket_data_source_history_dropped_total',
      'Fetches of which no history was written, because NATS was away for too long',
    ),
  }
}
