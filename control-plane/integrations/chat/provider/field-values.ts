import { toStorableText } from '../../../../shared/storable-text.ts'

/** Functions that read values of unknown type from responses of the provider. */

type Fields = Record<string, unknown>

export const toRecord = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An id of the provider. */
export const toId = (value: unknown): string | null =>
  /^[A-Za-z0-9]{1,40}$/.test(toText(value)) ? toText(value) : null

/** A token that can be sent in a header. */
export const toToken = (value: unknown): string | null =>
  /^[\x21-\x7e]{1,2000}$/.test(toText(value)) ? toText(value) : null

/** A name as one line. */
export const toLine = (value: unknown): string => toStorableText(toText(value).replace(/\p{C}/gu, ' ').trim(), 80)
