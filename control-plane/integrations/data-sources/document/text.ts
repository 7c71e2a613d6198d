/** A text as PostgreSQL can keep it: without NUL and halves of a surrogate pair. */
export const toStorableText = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd')

/** Text of somebody's document as one line that can be stored and shown, in the direction it is read, of at most `maxLength` characters. */
export function toLine(text: string, maxLength: number): string {
  const line = toStorableText(text.slice(0, maxLength * 2 + 2))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    .replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** A value as text. Of lists and objects only that they are some: nobody reads a document in a name. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

export type ScalarValue = string | number | boolean | null

/** A value with its type; of a text its beginning, of a list or an object only that it is one. */
export function toScalar(value: unknown, maxLength: number): ScalarValue {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return toLine(formatValue(value), maxLength)
}

/** A value as a sentence shows it: texts in quotes, with the blanks around them, which rules see too. */
export function quoteValue(value: unknown): string {
  if (typeof value !== 'string') return toLine(formatValue(value), 80)
  return value === value.trim() ? `"${toLine(value, 80)}"` : toLine(JSON.stringify(value), 80)
}
