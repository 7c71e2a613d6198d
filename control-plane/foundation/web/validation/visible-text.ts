/**
 * Removes invisible characters: control characters other than line breaks, and marks that change the direction of the
 * following text, with which a name could make a message read differently.
 */
export function stripInvisible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/(?!\n)[\p{Cc}\u2028\u2029]/gu, ' ')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** The same in one line, for titles, names and subjects. */
export const toOneLine = (text: string): string => stripInvisible(text).replace(/\s+/g, ' ').trim()
