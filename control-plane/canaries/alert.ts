import type { Envelope } from '../events/envelope.ts'

/** Which delivery about which monitor a signed body is; null when it is about something else. */
export function readAlert(body: Buffer): { deliveryId: string; monitorId: string } | null {
  const { delivery_id, data } = JSON.parse(body.toString()) as Envelope
  return 'monitor' in data ? { deliveryId: delivery_id, monitorId: data.monitor.id } : null
}
