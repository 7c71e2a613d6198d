import { createHmac, hkdfSync } from 'node:crypto'

/** HMAC-SHA256 of a text, as base64url. */
export type Signer = (text: string) => string

/** Derives a key for `purpose` from the installation's key, so that a signature for one use is invalid for another. */
export function createSigner(secretKey: Buffer, purpose: string): Signer {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32))
  return text => createHmac('sha256', key).update(text).digest('base64url')
}
