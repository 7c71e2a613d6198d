import type { Duplex } from 'node:stream'

/** What the system hands over at once; more of it waits then. */
const FULL_BYTES = 65_536

/**
 * Lets others go on after each piece of a long answer. Without it a socket hands over up to 32 pieces between two turns of
 * the event loop: 2 MB of rows, which take longer to read than a request may hold it.
 */
export function readInTurns(stream: Duplex): void {
  stream.on('data', (piece: Buffer) => {
    if (piece.length < FULL_BYTES) return
    stream.pause()
    setImmediate(() => stream.resume())
  })
}
