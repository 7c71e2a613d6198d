import { createHmac, timingSafeEqual } from 'node:crypto'

/** Maximum difference between the time of a request and the current time. */
export const REPLAY_WINDOW_SECONDS = 300

type SignedRequest = { timestamp: string; signature: string; body: Buffer }

/**
 * Whether a request has a recent signature of the provider: `v0=` and the hex HMAC-SHA256 of `v0:timestamp:body`, where
 * `body` is the raw body.
 */
export function isSignedByProvider(
  { timestamp, signature, body }: SignedRequest,
  secret: string,
  nowMs: number,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > REPLAY_WINDOW_SECONDS) return false
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')
  const [expected, sent] = [Buffer.from(`v0=${digest}`), Buffer.from(signature)]
  return expected.length === sent.length && timingSafeEqual(expected, sent)
}
