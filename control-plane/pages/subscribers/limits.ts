import type { SubscriptionKind } from './types.ts'

/** At most one message in ten minutes per address and page, as for alert channels. */
export { isRecentlyRequested } from '../../accounts/email/confirmation/address.ts'

/** How long a confirmation link is valid. */
export const CONFIRMATION_TIMEOUT_MS = 24 * 3_600_000

/** The maximum of confirmed subscribers per page. Webhooks are few because each receiver may hang. */
export const MAX_SUBSCRIBERS: Record<SubscriptionKind, number> = { email: 25_000, webhook: 50 }

/**
 * The maximum of addresses per page that are not confirmed. Above it, a new one replaces the oldest, so a visitor who fills
 * the form with many addresses does not prevent others from subscribing.
 */
export const MAX_UNCONFIRMED: Record<SubscriptionKind, number> = { email: 25_000, webhook: 1_000 }

/** Limits the confirmations to one address on all pages together, so that Picket cannot be used to flood it. */
export const CONFIRMATION_WINDOW_MS = 3_600_000
const MAX_CONFIRMATIONS = 5

export const hasTooManyConfirmations = (sent: number): boolean => sent >= MAX_CONFIRMATIONS

/** Forms per minute from one network, and to one page from all networks. */
export const MAX_FORMS_PER_MINUTE = { client: 20, page: 60 }
