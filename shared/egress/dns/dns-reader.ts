const MAX_LABEL_BYTES = 63
const MAX_NAME_BYTES = 255
const POINTER_BITS = 0xc0
/** Servers use one or two pointers in a name. */
const MAX_JUMPS = 16
/** Of all names of a message together, each read with the names to which it points. */
const MAX_NAMES_BYTES = 65_536

/**
 * Returns a function that reads the name at an offset of a message: its labels, and the offset after it. It throws for a damaged
 * name. The work for a whole message is limited, because a message may have thousands of names that all point to one long name.
 */
export function createNameReader(message: Buffer) {
  let totalBytes = 0
  return (offset: number): { labels: string[]; end: number } => {
    const labels: string[] = []
    let end: number | null = null
    let [bytes, jumps, at, segment] = [1, 0, offset, offset]
    for (;;) {
      const length = message.readUInt8(at)
      if (length === 0) return { labels, end: end ?? at + 1 }
      if (isPointer(length)) {
        end ??= at + 2
        at = message.readUInt16BE(at) & 0x3fff
        // only to prior data (RFC 1035, section 4.1.4), so no pointers form a circle
        if (at >= segment || ++jumps > MAX_JUMPS) throw new Error('a name has wrong or too many pointers')
        segment = at
      } else {
        const next = skipLabel(message, at)
        bytes += next - at
        totalBytes += next - at
        if (bytes > MAX_NAME_BYTES || totalBytes > MAX_NAMES_BYTES) throw new Error('names are too long')
        labels.push(message.toString('utf8', at + 1, next))
        at = next
      }
    }
  }
}

/** The offset after a name, without a look at the names to which it points. Throws for a damaged name. */
export function skipName(message: Buffer, offset: number): number {
  let at = offset
  for (;;) {
    const length = message.readUInt8(at)
    if (length === 0) return at + 1
    if (isPointer(length)) return at + 2
    at = skipLabel(message, at)
  }
}

const isPointer = (length: number) => (length & POINTER_BITS) === POINTER_BITS

function skipLabel(message: Buffer, at: number): number {
  const length = message.readUInt8(at)
  const next = at + 1 + length
  if (length > MAX_LABEL_BYTES || next > message.length) throw new Error('a label is too long')
  return next
}
