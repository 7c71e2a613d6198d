/** A text as PostgreSQL can keep it: without NUL and halves of a surrogate pair. */
export const storable = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd')

/** Text of somebody's document as one line that can be stored and shown, in the direction it is read, of at most `maxLength` characters. */
export function lineOf(text: string, maxLength: number): string {
  const line = storable(text.slice(0, maxLength * 2 + 2))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    .replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** A value as text. Of lists and objects only that they are some: nobody reads a document in a name. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

export type Typed = string | number | boolean | null

/** A value with its type; of a text its beginning, of a list or an object only that it is one. */
export function typedOf(value: unknown, maxLength: number): Typed {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return lineOf(textOf(value), maxLength)
}

/** A value as a sentence shows it: texts in quotes, with the blanks around them, which rules see too. */
export function shown(value: unknown): string {
  if (typeof value !== 'string') return lineOf(textOf(value), 80)
  return value === value.trim() ? `"${lineOf(value, 80)}"` : lineOf(JSON.stringify(value), 80)
}
