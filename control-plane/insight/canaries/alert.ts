import type { Envelope } from '../../alerting/events/envelope.ts'

/** The delivery and the monitor of a signed body; null when it is not about a monitor. */
export function parseAlert(body: Buffer): { deliveryId: string; monitorId: string } | null {
  const { delivery_id, data } = JSON.parse(body.toString()) as Envelope
  return 'monitor' in data ? { deliveryId: delivery_id, monitorId: data.monitor.id } : null
}
