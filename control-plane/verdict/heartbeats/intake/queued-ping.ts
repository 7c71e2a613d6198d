import type { PingArrival, PingSignal } from '../types.ts'

/** A ping in the message stream, as JSON. The token is present only as its hash. */
type QueuedPing = {
  id: string
  /** hexadecimal SHA-256 */
  tokenHash: string
  signal: PingSignal
  body: string | null
  /** when it arrived, ms since 1970 */
  receivedAtMs: number
}

export function encodeQueuedPing({ id, tokenHash, signal, body, receivedAtMs }: PingArrival): string {
  const ping: QueuedPing = { id, tokenHash: tokenHash.toString('hex'), signal, body, receivedAtMs }
  return JSON.stringify(ping)
}

/** Throws if the bytes are not a queued ping. */
export function decodeQueuedPing(data: Uint8Array): PingArrival {
  const { id, tokenHash, signal, body, receivedAtMs } = JSON.parse(new TextDecoder().decode(data)) as QueuedPing
  if (
    typeof id !== 'string' ||
    !/^[0-9a-f]{64}$/.test(tokenHash) ||
    typeof signal?.kind !== 'string' ||
    !Number.isFinite(receivedAtMs)
  )
    throw new Error('the message is not a ping')
  return { id, tokenHash: Buffer.from(tokenHash, 'hex'), signal, body, receivedAtMs, isKept: true, isWithdrawn: false }
}
