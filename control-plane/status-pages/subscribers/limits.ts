import type { SubscriberKind } from './types.ts'

/** One message in ten minutes, however often an address is asked for on a page: as for alert channels. */
export { isAskedLately } from '../../accounts/addresses/address.ts'

/** How long a confirmation can be answered. */
export const CONFIRM_MS = 24 * 3_600_000

/** What a page takes, the unconfirmed included. Each webhook is a receiver that may hang. */
export const MOST_SUBSCRIBERS: Record<SubscriberKind, number> = { email: 25_000, webhook: 50 }

/** So many messages to an address in this time on all pages together: so that Picket cannot be used to fill a mailbox. */
export const OFTEN_MS = 3_600_000
const OFTEN = 5

export const isAskedTooOften = (asked: number): boolean => asked >= OFTEN

/** Forms that one network may send in a minute, and all together to one page. */
export const FORMS_PER_MINUTE = { client: 20, page: 60 }
