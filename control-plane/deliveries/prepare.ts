import { CHANNELS, type ChannelType } from '../channels/index.ts'
import type { EventName, EventRow } from '../events/catalog.ts'
import type { Secrets } from '../platform/secrets.ts'
import { MASK } from '../platform/secrets.ts'
import { signatureHeaders } from './signature.ts'
import type { Head } from './store.ts'
import type { Lane } from './lanes.ts'

/** A delivery that is ready to be sent: its bytes are in the database before the first of them leaves. */
export type Prepared = Lane & {
  id: string
  attemptsMade: number
  createdAt: Date
  url: string
  headers: Record<string, string>
  /** as the log shows them */
  maskedHeaders: Record<string, string>
  body: Buffer
}

/** Renders (unless its bytes are stored already) and signs one delivery for the channel as it is configured now. */
export function prepareDelivery(head: Head, secrets: Secrets, now: Date): Prepared {
  const bound = `${head.projectId}:channel:${head.channelId}`
  const config = JSON.parse(secrets.open(head.config, `${bound}:config`))
  const message = CHANNELS[head.channelType as ChannelType].render(
    {
      name: head.eventName as EventName,
      data: head.eventData as EventRow['data'],
      deliveryId: head.id,
      deliveredAt: now,
    },
    config,
  )
  const body = head.body ?? message.body
  const signature = head.signingSecret
    ? signatureHeaders({
        id: head.id,
        eventName: head.eventName,
        body,
        secret: secrets.open(head.signingSecret, `${bound}:secret`),
        isReplay: head.isReplay,
        now,
      })
    : {}
  return {
    channelId: head.channelId,
    subject: head.subject,
    id: head.id,
    attemptsMade: head.attemptsMade,
    createdAt: head.createdAt,
    url: message.url,
    headers: { ...message.headers, ...signature },
    maskedHeaders: { ...maskAll(message.headers, message.secretHeaders), ...signature },
    body,
  }
}

function maskAll(headers: Record<string, string>, secret: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, secret.includes(name) ? MASK : value]))
}
