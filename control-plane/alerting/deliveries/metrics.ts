import type { Metrics } from '../../../shared/process/metrics.ts'

export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>

export function createDeliveryMetrics(metrics: Metrics) {
  return {
    deliveries: metrics.counter('picket_delivery_attempts_total', 'Attempts by the resulting status of the delivery', [
      'status',
    ]),
    relayed: metrics.counter('picket_relay_attempts_total', 'Relay attempts by the resulting status of the delivery', [
      'status',
    ]),
    keptBack: metrics.counter(
      'picket_mails_kept_back_total',
      'Mails that were not sent, because no address was confirmed or a daily limit was reached',
    ),
    uncounted: metrics.counter(
      'picket_mails_uncounted_total',
      'Mails, by address, that were sent without being counted against the daily limits, because counters were locked',
    ),
    withoutConnection: metrics.counter(
      'picket_mails_without_connection_total',
      'Mails that went back to the queue, because all connections to the mail server were busy',
    ),
    ownFaults: metrics.counter(
      'picket_delivery_own_faults_total',
      'Attempts that failed by a fault of Picket, which are made again later',
      ['fault'],
    ),
    inFlight: metrics.gauge('picket_deliveries_in_flight', 'Requests that wait for a response'),
    firstAttempt: metrics.histogram(
      'picket_delivery_first_attempt_seconds',
      'From the event, or from the end of an intended wait, to the start of the first attempt',
      [0.05, 0.1, 0.15, 0.25, 0.5, 1, 5, 20],
    ),
  }
}
