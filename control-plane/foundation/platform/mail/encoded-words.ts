/** A word may have 75 characters with the characters around it. */
const MAX_WORD_BYTES = 42

/** A text of a mail header as encoded words (RFC 2047), each of whole characters. */
export function encodeHeaderText(text: string): string {
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > MAX_WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  return [...words, word].map(one => `=?UTF-8?B?${Buffer.from(one).toString('base64')}?=`).join(' ')
}
