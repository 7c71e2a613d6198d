import type { Log } from '../../../../shared/process/log.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import type { OwnFault } from '../types.ts'

export type ReportOwnFault = (fault: OwnFault, reason: string, nowMs: number) => void

/** After this time without a fault the next one is logged again. */
const QUIET_MS = 10 * 60_000

/** Counts attempts that failed by a fault of Picket. The first of a series is logged. `nowMs` is monotonic. */
export function createOwnFaultReport(log: Log, metrics: Pick<DeliveryMetrics, 'ownFaults'>): ReportOwnFault {
  let lastAtMs = Number.NEGATIVE_INFINITY
  return (fault, reason, nowMs) => {
    metrics.ownFaults.inc({ fault })
    if (nowMs - lastAtMs > QUIET_MS)
      log.error(
        { event: 'deliveries_postponed', fault, reason },
        'alerts cannot be sent because of a fault on this side; they are tried again for a day',
      )
    lastAtMs = nowMs
  }
}
