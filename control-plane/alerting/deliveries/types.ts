export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'skipped', 'dead'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** A delivery to be made: one event to one channel. `subject` names its lane, `monitor:<id>` for instance. */
export type NewDelivery = {
  projectId: string
  channelId: string
  eventId: string
  eventName: string
  subject: string
  /** which reminder of an outage it is; left out: it is news */
  reminder?: number
  /** a subscriber of a status page, whom the channel reaches; left out: the channel itself is who hears it */
  subscriberId?: string
  /** one of many of its event, of which some were made before */
  isCrowd?: boolean
}

/** What came of one attempt. `responseCode` (HTTP's or SMTP's) null: there was no answer, and `error` says why. */
export type DeliveryOutcome = {
  startedAt: Date
  durationMs: number
  responseCode: number | null
  error: string | null
  /** trying again is of no use: a 4xx of HTTP, a 5xx of SMTP, an address that the egress guard refuses, for instance */
  isPermanent: boolean
  /** first kilobyte of the answer */
  responseSnippet: string | null
  /** what an answer of the chat's provider said beside its status; left out for whatever else was asked */
  chat?: ChatOutcome
}

/** What came of a message to a chat. `message`: where it stands now. `revoked`: the app was removed; `expired`: its token is over. */
export type ChatOutcome =
  | { ok: true; message: ChatMessage | null }
  | { ok: false; fault: 'revoked' | 'expired' | null; retryAfterMs: number | null }

/** How a chat knows a message. */
export type ChatMessage = { channel: string; ts: string }

/** An outcome as the log keeps and shows it (decisions 6.7). */
export type LoggedAttempt = {
  at: string
  response_code: number | null
  duration_ms: number
  error: string | null
  response_snippet: string | null
}
