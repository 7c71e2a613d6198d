/** `depth`: the number of nested containers. */
type JsonSize = { values: number; depth: number }

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d
const isWhitespace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/**
 * Counts the values and the depth of a JSON text in its bytes, without parsing it. Stops as soon as either exceeds `max`.
 * Bytes that are not JSON also get some size.
 */
export function measureJson(bytes: Uint8Array, max: JsonSize): JsonSize {
  const size = { values: 1, depth: 0 }
  let [level, isText, isEmpty] = [0, false, false]
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (isText) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) isText = false
      continue
    }
    if (isWhitespace(byte)) continue
    if (isClosing(byte)) level--
    // the first value of a container; each other one follows a comma
    else if (isEmpty) size.values++
    isEmpty = false
    if (byte === QUOTE) isText = true
    else if (byte === COMMA) size.values++
    else if (isOpening(byte)) {
      isEmpty = true
      size.depth = Math.max(size.depth, ++level)
    }
    if (size.values > max.values || size.depth > max.depth) return size
  }
  return size
}
