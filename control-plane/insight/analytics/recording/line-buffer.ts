const FIRST_BYTES = 64 * 1024
/** A character of a string takes at most three bytes of UTF-8. */
const MAX_BYTES_A_CHARACTER = 3

/**
 * Lines of one insert, in UTF-8. They are outside the JavaScript heap: as 50,000 strings, they would all be copied by
 * each garbage collection until the insert ends, which took a third of the time of the process.
 */
export type LineBuffer = {
  add(line: string): void
  /** the number of lines */
  count(): number
  /** The bytes of the lines `from` to `to - 1`, without a copy. Lines that are added later do not change them. */
  slice(from: number, to: number): Buffer
}

export function createLineBuffer(): LineBuffer {
  let bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
  const ends = [0]
  const getEnd = (lines: number) => ends[lines]!
  return {
    add(line) {
      const start = getEnd(ends.length - 1)
      const needed = start + line.length * MAX_BYTES_A_CHARACTER
      if (needed > bytes.length) bytes = grow(bytes, start, needed)
      ends.push(start + bytes.write(line, start))
    },
    count: () => ends.length - 1,
    slice: (from, to) => bytes.subarray(getEnd(from), getEnd(to)),
  }
}

function grow(bytes: Buffer, used: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, bytes.length * 2))
  bytes.copy(larger, 0, 0, used)
  return larger
}
