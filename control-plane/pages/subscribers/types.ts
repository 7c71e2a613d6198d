/** How somebody hears of a page. */
export type SubscriptionKind = 'email' | 'webhook'

/** A row of `page_subscribers`. */
export type StoredSubscriber = {
  id: string
  projectId: string
  pageId: string
  /** the channel of the queue that reaches them */
  channelId: string
  kind: SubscriptionKind
  addressHash: Buffer
  /** sealed: their address and the key of their links (channels/page-mail.ts, page-webhook.ts) */
  config: Buffer
  /** sealed; null for mail */
  signingSecret: Buffer | null
  /** null: all, also those to come */
  componentIds: string[] | null
  /** when they were last sent a confirmation */
  askedAt: Date
  /** null: sent nothing but confirmations */
  confirmedAt: Date | null
  consecutiveFailures: number
  pausedAt: Date | null
  createdAt: Date
  updatedAt: Date
}
