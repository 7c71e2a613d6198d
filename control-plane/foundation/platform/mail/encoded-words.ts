/** An encoded word may have 75 characters, including its delimiters. */
const MAX_WORD_BYTES = 42

/** A mail header text as encoded words (RFC 2047), which never split a character. */
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
