import type { Duplex } from 'node:stream'

/** What the system hands over at once. With TLS it comes in pieces of 16 KiB. */
const BYTES_PER_TURN = 65_536

/**
 * Lets others go on after each piece of a long answer. Without it a socket hands over up to 32 pieces between two turns of
 * the event loop: 2 MB of rows, which take longer to read than a request may hold it.
 */
export function readInChunks(stream: Duplex): void {
  let bytes = 0
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes < BYTES_PER_TURN) return
    bytes = 0
    stream.pause()
    setImmediate(() => stream.resume())
  })
}
