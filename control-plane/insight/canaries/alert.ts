import type { Envelope } from '../../alerting/events/envelope.ts'

/** Which delivery about which monitor a signed body is; null when it is about something else. */
export function parseAlert(body: Buffer): { deliveryId: string; monitorId: string } | null {
  const { delivery_id, data } = JSON.parse(body.toString()) as Envelope
  return 'monitor' in data ? { deliveryId: delivery_id, monitorId: data.monitor.id } : null
}
