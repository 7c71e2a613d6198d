import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Encryption at rest, AES-256-GCM. */
export type SecretCipher = {
  /** `boundTo` names tenant and record: a ciphertext moved to another row does not open. */
  encrypt(plain: string, boundTo: string): Buffer
  /** Throws when the key or the binding differs from the one it was sealed with. */
  decrypt(sealed: Buffer, boundTo: string): string
}

const VERSION = 1

/** Layout of a sealed value: version byte, 12 bytes nonce, 16 bytes tag, ciphertext. `key`: 32 bytes. */
export function createSecretCipher(key: Buffer, older: Buffer | null = null): SecretCipher {
  const secrets = createSingleKeyCipher(key)
  return older === null
    ? secrets
    : { encrypt: secrets.encrypt, decrypt: decryptWithEither(secrets, createSingleKeyCipher(older)) }
}

/** While a key is replaced by another one, values sealed with either are opened. */
const decryptWithEither =
  (secrets: SecretCipher, older: SecretCipher): SecretCipher['decrypt'] =>
  (sealed, boundTo) => {
    try {
      return secrets.decrypt(sealed, boundTo)
    } catch {
      return older.decrypt(sealed, boundTo)
    }
  }

function createSingleKeyCipher(key: Buffer): SecretCipher {
  return {
    encrypt(plain, boundTo) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), text])
    },
    decrypt(sealed, boundTo) {
      if (sealed[0] !== VERSION) throw new Error('sealed with an unknown version')
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(boundTo)).setAuthTag(sealed.subarray(13, 29))
      return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]).toString('utf8')
    },
  }
}

/** Opened texts that are remembered. */
const MAX_CACHED = 10_000

/**
 * The same, but what was opened once is remembered, for a process that opens the same few again and again. A text that was
 * sealed anew is another one: a nonce is never used twice.
 */
export function cacheDecrypted(secrets: SecretCipher): SecretCipher {
  const known = new Map<string, { sealed: Buffer; plain: string }>()
  return {
    encrypt: secrets.encrypt,
    decrypt(sealed, boundTo) {
      const found = known.get(boundTo)
      if (found?.sealed.equals(sealed)) return found.plain
      const plain = secrets.decrypt(sealed, boundTo)
      if (known.size >= MAX_CACHED) known.clear()
      known.set(boundTo, { sealed, plain })
      return plain
    },
  }
}

/** SHA-256, for tokens that are looked up by hash. */
export const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()

/** Constant-time comparison of two texts of any length. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}
