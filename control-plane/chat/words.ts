/** What a provider sends may be anything: these make of it what can be used, or nothing. */

type Fields = Record<string, unknown>

export const recordOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An id of the provider's. */
export const wordOf = (value: unknown): string | null =>
  /^[A-Za-z0-9]{1,40}$/.test(textOf(value)) ? textOf(value) : null

/** What can stand in a header. */
export const tokenOf = (value: unknown): string | null =>
  /^[\x21-\x7e]{1,2000}$/.test(textOf(value)) ? textOf(value) : null

/** A name, in one line. */
export const lineOf = (value: unknown): string => textOf(value).replace(/\p{C}/gu, ' ').trim().slice(0, 80)
