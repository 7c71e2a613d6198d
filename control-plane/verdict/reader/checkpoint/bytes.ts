/** Writes values one after the other, small numbers in few bytes. Throws a RangeError for an invalid number. */
export type ByteWriter = {
  /** a whole number from 0 to 2^53 - 1 */
  number(value: number): void
  /** a whole number between -2^52 and 2^52 */
  signed(value: number): void
  text(value: string): void
  uuid(value: string): void
  /** what has been written so far */
  bytes(): Uint8Array
}

export type ByteReader = {
  number(): number
  signed(): number
  text(): string
  uuid(): string
  isAtEnd(): boolean
}

const INITIAL_SIZE_BYTES = 64 * 1024

export function createByteWriter(): ByteWriter {
  let buffer = Buffer.allocUnsafe(INITIAL_SIZE_BYTES)
  let length = 0
  const room = (size: number) => {
    if (length + size <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + size))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }
  const number = (value: number) => {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} cannot be written`)
    room(8)
    let rest = value
    while (rest >= 128) {
      buffer[length++] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    buffer[length++] = rest
  }
  return {
    number,
    signed: value => number(value < 0 ? -2 * value - 1 : 2 * value),
    text(value) {
      const size = Buffer.byteLength(value)
      number(size)
      room(size)
      length += buffer.write(value, length)
    },
    uuid(value) {
      room(16)
      length += buffer.write(value.replaceAll('-', ''), length, 'hex')
    },
    bytes: () => buffer.subarray(0, length),
  }
}

/** Throws a RangeError if the bytes end too early. */
export function createByteReader(data: Uint8Array): ByteReader {
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  let at = 0
  const take = (size: number) => {
    if (at + size > buffer.length) throw new RangeError('the bytes end too early')
    at += size
    return at - size
  }
  const number = () => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = buffer[take(1)]!
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  return {
    number,
    signed() {
      const value = number()
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    },
    text() {
      const size = number()
      const from = take(size)
      return buffer.toString('utf8', from, from + size)
    },
    uuid() {
      const from = take(16)
      const hex = buffer.toString('hex', from, from + 16)
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    },
    isAtEnd: () => at === buffer.length,
  }
}
