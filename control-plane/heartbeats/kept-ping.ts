import type { Arrival, Signal } from './types.ts'

/** A ping in the message stream, as JSON: the token only as its hash. */
type KeptPing = {
  id: string
  /** hexadecimal SHA-256 */
  tokenHash: string
  signal: Signal
  body: string | null
  /** when it arrived, ms since 1970 */
  receivedAtMs: number
}

export function encodeKept({ id, tokenHash, signal, body, receivedAtMs }: Arrival): string {
  const kept: KeptPing = { id, tokenHash: tokenHash.toString('hex'), signal, body, receivedAtMs }
  return JSON.stringify(kept)
}

/** Throws when the bytes are not a kept ping. */
export function decodeKept(data: Uint8Array): Arrival {
  const { id, tokenHash, signal, body, receivedAtMs } = JSON.parse(new TextDecoder().decode(data)) as KeptPing
  if (
    typeof id !== 'string' ||
    !/^[0-9a-f]{64}$/.test(tokenHash) ||
    typeof signal?.kind !== 'string' ||
    !Number.isFinite(receivedAtMs)
  )
    throw new Error('this message is not a ping')
  return { id, tokenHash: Buffer.from(tokenHash, 'hex'), signal, body, receivedAtMs, isKept: true, isWithdrawn: false }
}
