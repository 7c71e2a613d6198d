import { createHmac } from 'node:crypto'

/** `sha256=<hex>`: HMAC-SHA256 of the raw body, keyed with the whole secret including its prefix (docs/design/deliveries.md#signatures). */
export function signBody(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** Standard Webhooks: `v1,<base64>` over `id.timestamp.body`, keyed with the decoded bytes of the secret. */
function signStandard(id: string, timestampSeconds: number, body: Buffer, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body)
  return `v1,${signed.digest('base64')}`
}

type SignatureInput = {
  id: string
  eventName: string
  body: Buffer
  secret: string
  isReplay: boolean
  reminder: number | null
  now: Date
}

/** The headers of each delivery to a webhook (docs/design/deliveries.md#signatures). */
export function buildSignatureHeaders({
  id,
  eventName,
  body,
  secret,
  isReplay,
  reminder,
  now,
}: SignatureInput): Record<string, string> {
  const timestampSeconds = Math.floor(now.getTime() / 1000)
  return {
    'X-Service-Event': eventName,
    'X-Service-Delivery': id,
    'X-Service-Signature': signBody(body, secret),
    ...(isReplay && { 'X-Service-Delivery-Retry': 'true' }),
    ...(reminder !== null && { 'X-Service-Reminder': String(reminder) }),
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signStandard(id, timestampSeconds, body, secret),
  }
}
