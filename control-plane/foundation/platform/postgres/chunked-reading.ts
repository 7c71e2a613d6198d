import type { Duplex } from 'node:stream'

/** The system delivers this much in one read; with TLS, chunks of 16 KiB. */
const BYTES_PER_TURN = 65_536

/**
 * Yields to other work after each chunk of a long answer. Otherwise a socket delivers up to 32 chunks between two turns of
 * the event loop: 2 MB of rows, which take longer to parse than a request may block it.
 */
export function readInChunks(stream: Duplex): void {
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes < BYTES_PER_TURN) return
    bytes = 0
    stream.pause()
    setImmediate(() => stream.resume())
  })
}
