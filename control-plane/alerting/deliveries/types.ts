import type { NetworkFault } from '../../foundation/platform/network/own-faults.ts'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'skipped', 'dead'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** A delivery to be made: one event to one channel. `subject` names its lane, `monitor:<id>` for instance. */
export type NewDelivery = {
  projectId: string
  channelId: string
  eventId: string
  eventName: string
  subject: string
  /** number of the reminder; undefined when the event is not a reminder */
  reminder?: number
  /** the subscriber of a status page who receives it; undefined when the channel itself is the recipient */
  subscriberId?: string
  /** the event has many deliveries, and some were queued earlier */
  isCrowd?: boolean
}

/** Which part of the installation failed, and not the receiver (docs/design/deliveries.md#faults-of-picket). */
export type OwnFault = NetworkFault | 'mail_server'

/** The outcome of one attempt. `responseCode` (HTTP or SMTP) is null when there was no response; `error` has the reason. */
export type DeliveryOutcome = {
  startedAt: Date
  durationMs: number
  responseCode: number | null
  error: string | null
  /** a retry cannot succeed, for example after an HTTP 4xx, an SMTP 5xx or an address that the egress guard refuses */
  isPermanent: boolean
  /** first kilobyte of the response */
  responseSnippet: string | null
  /** a fault of Picket, not of the receiver; absent: none */
  ownFault?: OwnFault
  /** the provider's result in the response body; only for messages to the API of a chat */
  chat?: ChatOutcome
}

/** The outcome of a message to a chat. `message`: its position in the chat. `revoked`: the app was removed. `expired`: the token has expired. */
type ChatOutcome =
  | { ok: true; message: ChatMessage | null }
  | { ok: false; fault: 'revoked' | 'expired' | null; retryAfterMs: number | null }

/** The identity of a message in a chat. */
export type ChatMessage = { channel: string; ts: string }

/** An attempt as the log stores and returns it (docs/design/deliveries.md#log). */
export type LoggedAttempt = {
  at: string
  response_code: number | null
  duration_ms: number
  error: string | null
  response_snippet: string | null
}
