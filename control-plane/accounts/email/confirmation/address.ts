import { toOneLine } from '../../../foundation/web/validation/visible-text.ts'

/** Converts an address to the form in which it is stored and compared: lower case. */
export const normalizeAddress = (address: string): string => address.toLowerCase()

/** How long a confirmation link works. */
export const CONFIRMATION_LIFETIME_MS = 72 * 3_600_000

/** An address gets at most one confirmation in this time. */
export const MIN_CONFIRMATION_INTERVAL_MS = 10 * 60_000

export const isRecentlyRequested = (askedAt: Date, now: Date): boolean =>
  now.getTime() - askedAt.getTime() < MIN_CONFIRMATION_INTERVAL_MS

const MAX_NAME_LENGTH = 60

/**
 * Makes a customer's name safe for an email to people who may not know the customer: one short line in which mail programs
 * find no link, and which does not change the direction of the text around it.
 */
export const sanitizeNameForEmail = (text: string): string => {
  const plain = toOneLine(text).replace(/[.。．｡:/\\@]+(?=\S)/g, ' ')
  return [...plain].slice(0, MAX_NAME_LENGTH).join('').trim()
}
