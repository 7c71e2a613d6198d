import { toStorableText } from '../../../../shared/storable-text.ts'

/** Formats text of a document as one line of at most `maxLength` characters, without control and direction marks. */
export function toLine(text: string, maxLength: number): string {
  const line = toStorableText(text, maxLength * 2 + 2)
    .replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** Formats a value as text. A list or an object is described, not printed. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

export type ScalarValue = string | number | boolean | null

/** Returns a value with its type. A text is cut; a list or an object is described. */
export function toScalar(value: unknown, maxLength: number): ScalarValue {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return toLine(formatValue(value), maxLength)
}

/** Formats a value for a sentence. Texts are quoted with their leading and trailing spaces, because rules compare these. */
export function quoteValue(value: unknown): string {
  if (typeof value !== 'string') return toLine(formatValue(value), 80)
  return value === value.trim() ? `"${toLine(value, 80)}"` : toLine(JSON.stringify(value), 80)
}
