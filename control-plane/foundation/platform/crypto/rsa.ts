import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** Parses a private RSA key in PEM. Null when the text is not one. */
export function parseRsaPrivateKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? key : null
  } catch {
    return null
  }
}

/** RSA-SHA256 (PKCS #1 v1.5) of a text, in base64. */
export const signRsaSha256 = (text: string, key: KeyObject): string =>
  sign('sha256', Buffer.from(text), key).toString('base64')

/** The public key in DER, in base64, as it is published in DNS. */
export const exportPublicKey = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')
