import { ConfigError } from '../../../shared/process/env.ts'
import { DecryptionError } from '../../foundation/platform/crypto/decryption-error.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import { decryptsNewest } from '../../foundation/platform/crypto/reencrypt.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { ENCRYPTED_COLUMNS, KEY_CHECK_BINDING } from './encrypted-columns.ts'

const KNOWN_TEXT = 'picket'

/**
 * Throws a ConfigError when the keys do not decrypt the check value of this database (docs/design/encryption.md#key-check). The
 * first call stores it, unless values exist and the keys decrypt none of the newest ones.
 */
export async function assertSecretKey(db: Db, secrets: SecretCipher): Promise<void> {
  let value = await readCheckValue(db)
  if (value === null) {
    if (!(await decryptsStoredValues(db, secrets))) throw new ConfigError(WRONG_KEY_MESSAGE)
    await insertCheckValue(db, secrets, 'DO NOTHING')
    // that of another process, when it was first
    value = await readCheckValue(db)
  }
  if (!decrypts(secrets, value!)) throw new ConfigError(WRONG_KEY_MESSAGE)
}

/** Makes the key that encrypts the one that `assertSecretKey` accepts. */
export const replaceCheckValue = (db: Tx, secrets: SecretCipher): Promise<unknown> =>
  insertCheckValue(db, secrets, '(id) DO UPDATE SET value = excluded.value')

const WRONG_KEY_MESSAGE =
  'SECRET_KEY is not the key with which the secrets in this database are encrypted; set that key again, or as SECRET_KEY_OLD while the key is changed; if it is lost, run: npm run admin -- secrets accept-key'

const insertCheckValue = (db: Db | Tx, secrets: SecretCipher, onConflict: string) =>
  execute(db, `INSERT INTO secret_key_checks (id, value) VALUES ('secret_key', ?) ON CONFLICT ${onConflict}`, [
    secrets.encrypt(KNOWN_TEXT, KEY_CHECK_BINDING),
  ])

async function readCheckValue(db: Db): Promise<Buffer | null> {
  const [row] = await query<{ value: Buffer }>(db, 'SELECT value FROM secret_key_checks')
  return row?.value ?? null
}

function decrypts(secrets: SecretCipher, value: Buffer): boolean {
  try {
    return secrets.decrypt(value, KEY_CHECK_BINDING) === KNOWN_TEXT
  } catch (error) {
    if (error instanceof DecryptionError) return false
    throw error
  }
}

/** True when nothing is encrypted yet, or the keys decrypt one of the newest values: no other key decrypts any. */
async function decryptsStoredValues(db: Db, secrets: SecretCipher): Promise<boolean> {
  let hasValues = false
  for (const column of ENCRYPTED_COLUMNS) {
    const result = await decryptsNewest(db, column, secrets)
    if (result) return true
    hasValues ||= result === false
  }
  return !hasValues
}
