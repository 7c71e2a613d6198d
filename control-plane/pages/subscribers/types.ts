/** How a subscriber is notified. */
export type SubscriptionKind = 'email' | 'webhook'

/** A row of `page_subscribers`. */
export type StoredSubscriber = {
  id: string
  projectId: string
  pageId: string
  /** the alert channel of the deliveries */
  channelId: string
  kind: SubscriptionKind
  addressHash: Buffer
  /** encrypted: the address and the key of the links (alerting/channels/subscribers) */
  config: Buffer
  /** encrypted; null for mail */
  signingSecret: Buffer | null
  /** null: all components, including later ones */
  componentIds: string[] | null
  /** when the last confirmation was sent */
  askedAt: Date
  /** null: receives only confirmations */
  confirmedAt: Date | null
  consecutiveFailures: number
  pausedAt: Date | null
  createdAt: Date
  updatedAt: Date
}
