import type { EventData, EventName } from './catalog.ts'

/** The body of every delivery (docs/design/events.md#envelope). */
export type Envelope<Name extends EventName = EventName> = {
  api_version: '1'
  event: Name
  delivery_id: string
  /** ISO 8601 UTC with milliseconds */
  delivered_at: string
  data: EventData<Name>
}

/** `deliveredAt`: when the bytes are made. Retries and replays send the stored bytes, so it does not change. */
export function buildEnvelope<Name extends EventName>(
  event: { name: Name; data: EventData<Name> },
  deliveryId: string,
  deliveredAt: Date,
): Envelope<Name> {
  return {
    api_version: '1',
    event: event.name,
    delivery_id: deliveryId,
    delivered_at: deliveredAt.toISOString(),
    data: toDocumentedData(event.data),
  }
}

/** Without `is_automatic` of an update, which is not part of the documented data. */
function toDocumentedData<Data extends EventData<EventName>>(data: Data): Data {
  if (!('update' in data) || data.update === null) return data
  const { is_automatic, ...update } = data.update
  return { ...data, update }
}
