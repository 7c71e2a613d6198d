import { toOneLine } from '../../../foundation/web/validation/visible-text.ts'

/** As an address is stored and compared: the same in small and capital letters. */
export const normalizeAddress = (address: string): string => address.toLowerCase()

/** How long a confirmation can be answered. */
export const CONFIRMATION_LIFETIME_MS = 72 * 3_600_000

/** One message in this time, however often an address is asked for. */
export const MIN_CONFIRMATION_INTERVAL_MS = 10 * 60_000

export const isRecentlyRequested = (askedAt: Date, now: Date): boolean =>
  now.getTime() - askedAt.getTime() < MIN_CONFIRMATION_INTERVAL_MS

const MAX_NAME_LENGTH = 60

/**
 * A name that a customer chose, in a mail to people who do not know the customer: one short line in which no mail program finds a
 * link, and which changes the direction of no text around it.
 */
export const sanitizeNameForEmail = (text: string): string => {
  const plain = toOneLine(text).replace(/[.。．｡:/\\@]+(?=\S)/g, ' ')
  return [...plain].slice(0, MAX_NAME_LENGTH).join('').trim()
}
