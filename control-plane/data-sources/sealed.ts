import type { SealedColumn } from '../platform/reseal.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { AuthConfig } from '../web/credentials.ts'
import type { HeaderMap } from '../web/header-map.ts'
import type { StoredSource } from './types.ts'

type Owner = Pick<StoredSource, 'id' | 'projectId'>
/** What a source keeps secret, in plain text. */
export type Opened = { headers: HeaderMap | null; authConfig: AuthConfig | null }

const bindingOf = (owner: Owner, column: 'auth' | 'headers') => `${owner.projectId}:data-source:${owner.id}:${column}`

/** By column, for a new key. */
export const SEALED_IN_DATA_SOURCES: SealedColumn[] = (
  [
    ['headers', 'headers'],
    ['auth_config', 'auth'],
  ] as const
).map(([column, name]) => ({
  table: 'data_sources',
  column,
  key: ['id'],
  needs: ['project_id'],
  bindingOf: row => bindingOf({ id: row.id!, projectId: row.project_id! }, name),
}))

/** As columns hold it. */
export function sealSource({ headers, authConfig }: Opened, owner: Owner, secrets: Secrets) {
  const seal = (value: object | null, column: 'auth' | 'headers') =>
    value && secrets.seal(JSON.stringify(value), bindingOf(owner, column))
  return { headers: seal(headers, 'headers'), authConfig: seal(authConfig, 'auth') }
}

export function openSource(source: Owner & Pick<StoredSource, 'headers' | 'authConfig'>, secrets: Secrets): Opened {
  const open = (sealed: Buffer | null, column: 'auth' | 'headers') =>
    sealed && JSON.parse(secrets.open(sealed, bindingOf(source, column)))
  return { headers: open(source.headers, 'headers'), authConfig: open(source.authConfig, 'auth') }
}
