import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { DecryptionError } from './decryption-error.ts'

/** Encryption at rest, AES-256-GCM (docs/design/encryption.md#format). */
export type SecretCipher = {
  /** `boundTo` names tenant and record: a ciphertext copied to another row does not decrypt. */
  encrypt(plain: string, boundTo: string): Buffer
  /** Throws a DecryptionError when the key or the binding differs from the one used to encrypt. */
  decrypt(encrypted: Buffer, boundTo: string): string
}

const VERSION = 1

/** Layout of an encrypted value: version byte, 12 bytes nonce, 16 bytes tag, ciphertext. `key`: 32 bytes. */
export function createSecretCipher(key: Buffer, older: Buffer | null = null): SecretCipher {
  const secrets = createSingleKeyCipher(key)
  return older === null
    ? secrets
    : { encrypt: secrets.encrypt, decrypt: decryptWithEither(secrets, createSingleKeyCipher(older)) }
}

/** During a key rotation, values encrypted with either key can be decrypted. */
const decryptWithEither =
  (secrets: SecretCipher, older: SecretCipher): SecretCipher['decrypt'] =>
  (encrypted, boundTo) => {
    try {
      return secrets.decrypt(encrypted, boundTo)
    } catch {
      return older.decrypt(encrypted, boundTo)
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
    decrypt(encrypted, boundTo) {
      if (encrypted[0] !== VERSION) throw new Error('the encrypted value has an unknown version')
      const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(1, 13), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(boundTo)).setAuthTag(encrypted.subarray(13, 29))
      const text = decipher.update(encrypted.subarray(29))
      return Buffer.concat([text, assertAuthentic(() => decipher.final())]).toString('utf8')
    },
  }
}

function assertAuthentic(final: () => Buffer): Buffer {
  try {
    return final()
  } catch {
    throw new DecryptionError('SECRET_KEY does not decrypt this value')
  }
}

/** Decrypted texts that are cached. */
const MAX_CACHED = 10_000

/**
 * The same with a cache of decrypted texts, for a process that decrypts the same few repeatedly. A text that was encrypted
 * again has another ciphertext, because a nonce is never used twice.
 */
export function cacheDecrypted(secrets: SecretCipher): SecretCipher {
  const known = new Map<string, { encrypted: Buffer; plain: string }>()
  return {
    encrypt: secrets.encrypt,
    decrypt(encrypted, boundTo) {
      const found = known.get(boundTo)
      if (found?.encrypted.equals(encrypted)) return found.plain
      const plain = secrets.decrypt(encrypted, boundTo)
      if (known.size >= MAX_CACHED) known.clear()
      known.set(boundTo, { encrypted, plain })
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
