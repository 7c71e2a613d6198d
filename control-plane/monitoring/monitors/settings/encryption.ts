import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'
import type { MonitorAuthType, StoredMonitor } from '../types.ts'

/** A monitor's request headers as the user sent them. */
type RequestHeaders = Record<string, string>
/** basic `{ username, password }`, bearer `{ token }`, header `{ name, value }`, and any other keys that were sent. */
export type MonitorAuthConfig = Record<string, unknown>

type MonitorOwner = Pick<StoredMonitor, 'id' | 'projectId'>

const buildBinding = (owner: MonitorOwner, column: 'auth' | 'headers' | 'ping') =>
  `${owner.projectId}:monitor:${owner.id}:${column}`

/** The encrypted columns, for re-encryption with a new key. */
export const ENCRYPTED_MONITOR_COLUMNS: EncryptedColumn[] = (
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
  getBinding: row => buildBinding({ id: row.id!, projectId: row.project_id! }, name),
}))

export function encryptHeaders(
  headers: RequestHeaders | null,
  owner: MonitorOwner,
  secrets: SecretCipher,
): Buffer | null {
  return headers === null ? null : secrets.encrypt(JSON.stringify(headers), buildBinding(owner, 'headers'))
}

export function decryptHeaders(
  monitor: MonitorOwner & Pick<StoredMonitor, 'headers'>,
  secrets: SecretCipher,
): RequestHeaders | null {
  if (monitor.headers === null) return null
  return JSON.parse(secrets.decrypt(monitor.headers, buildBinding(monitor, 'headers'))) as RequestHeaders
}

export function encryptAuth(
  config: MonitorAuthConfig | null,
  owner: MonitorOwner,
  secrets: SecretCipher,
): Buffer | null {
  return config === null ? null : secrets.encrypt(JSON.stringify(config), buildBinding(owner, 'auth'))
}

/** Returns the credentials of a monitor in plain text, null when it has none. */
export function decryptAuth(
  monitor: MonitorOwner & Pick<StoredMonitor, 'authType' | 'authConfig'>,
  secrets: SecretCipher,
): { type: MonitorAuthType; config: MonitorAuthConfig } | null {
  if (monitor.authType === null || monitor.authConfig === null) return null
  return {
    type: monitor.authType,
    config: JSON.parse(secrets.decrypt(monitor.authConfig, buildBinding(monitor, 'auth'))) as MonitorAuthConfig,
  }
}

export const encryptPingToken = (token: string, owner: MonitorOwner, secrets: SecretCipher): Buffer =>
  secrets.encrypt(token, buildBinding(owner, 'ping'))

/** Returns the token after `/ping/` in a monitor's ping URL, null when it has none. */
export function decryptPingToken(
  monitor: MonitorOwner & Pick<StoredMonitor, 'pingToken'>,
  secrets: SecretCipher,
): string | null {
  return monitor.pingToken === null ? null : secrets.decrypt(monitor.pingToken, buildBinding(monitor, 'ping'))
}
