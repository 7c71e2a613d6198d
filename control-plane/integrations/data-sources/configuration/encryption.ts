import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'
import type { AuthConfig } from '../../../foundation/web/masked-secrets/credentials.ts'
import type { HeaderMap } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { StoredSource } from '../types.ts'

type Owner = Pick<StoredSource, 'id' | 'projectId'>
/** What a source keeps secret, in plain text. */
export type SourceSecrets = { headers: HeaderMap | null; authConfig: AuthConfig | null }

const buildBinding = (owner: Owner, column: 'auth' | 'headers') =>
  `${owner.projectId}:data-source:${owner.id}:${column}`

/** By column, for a new key. */
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
  bindingOf: row => buildBinding({ id: row.id!, projectId: row.project_id! }, name),
}))

/** As columns hold it. */
export function encryptSource({ headers, authConfig }: SourceSecrets, owner: Owner, secrets: SecretCipher) {
  const seal = (value: object | null, column: 'auth' | 'headers') =>
    value && secrets.encrypt(JSON.stringify(value), buildBinding(owner, column))
  return { headers: seal(headers, 'headers'), authConfig: seal(authConfig, 'auth') }
}

export function decryptSource(
  source: Owner & Pick<StoredSource, 'headers' | 'authConfig'>,
  secrets: SecretCipher,
): SourceSecrets {
  const open = (sealed: Buffer | null, column: 'auth' | 'headers') =>
    sealed && JSON.parse(secrets.decrypt(sealed, buildBinding(source, column)))
  return { headers: open(source.headers, 'headers'), authConfig: open(source.authConfig, 'auth') }
}
