import type { HttpReply } from './server/types.ts'

/** A signal that aborts when the connection of a request ends before its response, and without effect after the response. */
export function createGoneSignal(reply: HttpReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
