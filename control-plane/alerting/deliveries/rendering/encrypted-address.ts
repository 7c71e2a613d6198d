import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'

type Owner = { id: string; projectId: string }

const buildBinding = ({ id, projectId }: Owner) => `${projectId}:delivery:${id}:address`

/** Encrypts the address of a request. It may contain a secret, like the config of its channel. */
export const encryptAddress = (url: string, delivery: Owner, secrets: SecretCipher): Buffer =>
  secrets.encrypt(url, buildBinding(delivery))

/** Returns null when the key does not decrypt it: one such delivery must stop neither the others nor the log. */
export function decryptAddress(encrypted: Buffer, delivery: Owner, secrets: SecretCipher): string | null {
  try {
    return secrets.decrypt(encrypted, buildBinding(delivery))
  } catch {
    return null
  }
}

/** The columns that a change of `SECRET_KEY` encrypts again. */
export const ENCRYPTED_DELIVERY_COLUMNS: EncryptedColumn[] = [
  {
    table: 'deliveries',
    column: 'request_address',
    key: ['id'],
    needs: ['project_id'],
    getBinding: row => buildBinding({ id: row.id!, projectId: row.project_id! }),
  },
]
