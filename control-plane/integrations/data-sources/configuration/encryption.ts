import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'
import type { AuthConfig } from '../../../foundation/web/masked-secrets/credentials.ts'
import type { HeaderMap } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { StoredSource } from '../types.ts'

type Owner = Pick<StoredSource, 'id' | 'projectId'>
/** The secrets of a source in plain text. */
export type SourceSecrets = { headers: HeaderMap | null; authConfig: AuthConfig | null }

const buildBinding = (owner: Owner, column: 'auth' | 'headers') =>
  `${owner.projectId}:data-source:${owner.id}:${column}`

/** The encrypted columns, for a change of SECRET_KEY. */
export const ENCRYPTED_SOURCE_COLUMNS: EncryptedColumn[] = (
  [
    ['headers', 'headers'],
    ['auth_config', 'auth'],
  ] as const
).map(([column, name]) => ({
  table: 'data_sources',
  column,
  key: ['id'],
  needs: ['project_id'],
  getBinding: row => buildBinding({ id: row.id!, projectId: row.project_id! }, name),
}))

/** Encrypts the secrets of a source for their columns. */
export function encryptSource({ headers, authConfig }: SourceSecrets, owner: Owner, secrets: SecretCipher) {
  const encrypt = (value: object | null, column: 'auth' | 'headers') =>
    value && secrets.encrypt(JSON.stringify(value), buildBinding(owner, column))
  return { headers: encrypt(headers, 'headers'), authConfig: encrypt(authConfig, 'auth') }
}

export function decryptSource(
  source: Owner & Pick<StoredSource, 'headers' | 'authConfig'>,
  secrets: SecretCipher,
): SourceSecrets {
  const decrypt = (encrypted: Buffer | null, column: 'auth' | 'headers') =>
    encrypted && JSON.parse(secrets.decrypt(encrypted, buildBinding(source, column)))
  return { headers: decrypt(source.headers, 'headers'), authConfig: decrypt(source.authConfig, 'auth') }
}
