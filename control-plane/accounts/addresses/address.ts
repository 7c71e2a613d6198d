import { oneLine } from '../../web/visible.ts'

/** As an address is stored and compared: the same in small and capital letters. */
export const addressKey = (address: string): string => address.toLowerCase()

/** How long a confirmation can be answered. */
export const CONFIRM_MS = 72 * 3_600_000

/** One message in this time, however often an address is asked for. */
export const ASK_AGAIN_MS = 10 * 60_000

export const isAskedLately = (askedAt: Date, now: Date): boolean => now.getTime() - askedAt.getTime() < ASK_AGAIN_MS

const LONGEST_NAME = 60

/**
 * A name that a customer chose, in a mail to people who do not know the customer: one short line in which no mail program finds a
 * link, and which changes the direction of no text around it.
 */
export const unlinkedName = (text: string): string => {
  const plain = oneLine(text).replace(/[.。．｡:/\\@]+(?=\S)/g, ' ')
  return [...plain].slice(0, LONGEST_NAME).join('').trim()
}
