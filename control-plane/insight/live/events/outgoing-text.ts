import { Readable } from 'node:stream'

/** What a reader has not received yet. More means that it does not keep up. */
const MAX_BACKLOG_BYTES = 256 * 1024

/** The text of a response that is written while it is sent. */
type OutgoingText = {
  readable: Readable
  /** False when the reader does not keep up; the text is not added then. */
  write(text: string): boolean
  /** Ends the response; at once and incompletely, when `isStalled` or the reader has not received everything. */
  end(isStalled: boolean): void
}

export function createOutgoingText(): OutgoingText {
  const readable = new Readable({ read() {} })
  return {
    readable,
    write(text) {
      if (readable.destroyed || readable.readableLength + text.length > MAX_BACKLOG_BYTES) return false
      readable.push(text)
      return true
    },
    end(isStalled) {
      if (isStalled || readable.readableLength > 0) readable.destroy()
      else readable.push(null)
    },
  }
}
