import type { SubscriptionKind } from './types.ts'

/** One message in ten minutes, however often an address is asked for on a page: as for alert channels. */
export { isRecentlyRequested } from '../../accounts/email/confirmation/address.ts'

/** How long a confirmation can be answered. */
export const CONFIRMATION_TIMEOUT_MS = 24 * 3_600_000

/** What a page takes, the unconfirmed included. Each webhook is a receiver that may hang. */
export const MAX_SUBSCRIBERS: Record<SubscriptionKind, number> = { email: 25_000, webhook: 50 }

/** So many messages to an address in this time on all pages together: so that Picket cannot be used to fill a mailbox. */
export const CONFIRMATION_WINDOW_MS = 3_600_000
const MAX_CONFIRMATIONS = 5

export const hasTooManyConfirmations = (asked: number): boolean => asked >= MAX_CONFIRMATIONS

/** Forms that one network may send in a minute, and all together to one page. */
export const MAX_FORMS_PER_MINUTE = { client: 20, page: 60 }
