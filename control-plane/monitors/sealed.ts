import type { SealedColumn } from '../platform/reseal.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { AuthType, StoredMonitor } from './types.ts'

/** A monitor's request headers as the user wrote them. */
export type Headers = Record<string, string>
/** basic `{ username, password }`, bearer `{ token }`, header `{ name, value }`, and whatever else was sent along. */
export type AuthConfig = Record<string, unknown>

type Owner = Pick<StoredMonitor, 'id' | 'projectId'>

const bindingOf = (owner: Owner, column: 'auth' | 'headers' | 'ping') =>
  `${owner.projectId}:monitor:${owner.id}:${column}`

/** By column, for a new key. */
export const SEALED_IN_MONITORS: SealedColumn[] = (
  [
    ['headers', 'headers'],
    ['auth_config', 'auth'],
    ['ping_token', 'ping'],
  ] as const
).map(([column, name]) => ({
  table: 'monitors',
  column,
  key: ['id'],
  needs: ['project_id'],
  bindingOf: row => bindingOf({ id: row.id!, projectId: row.project_id! }, name),
}))

export function sealHeaders(headers: Headers | null, owner: Owner, secrets: Secrets): Buffer | null {
  return headers === null ? null : secrets.seal(JSON.stringify(headers), bindingOf(owner, 'headers'))
}

export function openHeaders(monitor: Owner & Pick<StoredMonitor, 'headers'>, secrets: Secrets): Headers | null {
  if (monitor.headers === null) return null
  return JSON.parse(secrets.open(monitor.headers, bindingOf(monitor, 'headers'))) as Headers
}

export function sealAuth(config: AuthConfig | null, owner: Owner, secrets: Secrets): Buffer | null {
  return config === null ? null : secrets.seal(JSON.stringify(config), bindingOf(owner, 'auth'))
}

/** The credentials of a monitor in plain text, null when it has none. */
export function openAuth(
  monitor: Owner & Pick<StoredMonitor, 'authType' | 'authConfig'>,
  secrets: Secrets,
): { type: AuthType; config: AuthConfig } | null {
  if (monitor.authType === null || monitor.authConfig === null) return null
  return {
    type: monitor.authType,
    config: JSON.parse(secrets.open(monitor.authConfig, bindingOf(monitor, 'auth'))) as AuthConfig,
  }
}

export const sealPingToken = (token: string, owner: Owner, secrets: Secrets): Buffer =>
  secrets.seal(token, bindingOf(owner, 'ping'))

/** What stands behind `/ping/` in a monitor's ping URL; null when it has none. */
export function openPingToken(monitor: Owner & Pick<StoredMonitor, 'pingToken'>, secrets: Secrets): string | null {
  return monitor.pingToken === null ? null : secrets.open(monitor.pingToken, bindingOf(monitor, 'ping'))
}
