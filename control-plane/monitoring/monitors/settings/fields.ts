import { isDeepStrictEqual } from 'node:util'
import { createInterner } from '../../../foundation/platform/cache/intern.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { HeaderMap } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { StoredMonitor } from '../types.ts'
import { CREATE_DEFAULTS } from './defaults.ts'
import { decryptAuth, decryptHeaders, encryptAuth, encryptHeaders, type MonitorAuthConfig } from './encryption.ts'
import type { MonitorCreate, MonitorUpdate } from './schema.ts'

type EncryptedField = 'headers' | 'authConfig'
type UnconfiguredField =
  | 'id'
  | 'projectId'
  | 'partition'
  | 'configVersion'
  | 'revision'
  | 'status'
  | 'statusChangedAt'
  | 'isPaused'
  | 'pingToken'
  | 'pingTokenHash'
  | 'sslExpiresAt'
  | 'domainExpiresAt'
  | 'dataSource'
  | 'deletedAt'
  | 'createdAt'
  | 'updatedAt'

/** The fields of a monitor that users configure, in plain text. */
export type MonitorFields = Omit<StoredMonitor, UnconfiguredField | EncryptedField> & {
  headers: HeaderMap | null
  authConfig: MonitorAuthConfig | null
}

const UNSET = {
  url: null,
  headers: null,
  body: null,
  assertions: null,
  authType: null,
  authConfig: null,
  keyword: null,
  heartbeatInterval: null,
  tags: null,
} satisfies Partial<MonitorFields>

const internName = createInterner<string>(1_000)
const CAMEL_DEFAULTS = toCamelKeys(CREATE_DEFAULTS)

/** Returns the fields of a create body. Missing and null fields have their defaults. */
export function toCreatedFields(body: MonitorCreate): MonitorFields {
  const named = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  return { ...UNSET, ...CAMEL_DEFAULTS, ...toCamelKeys(named) } as MonitorFields
}

/** Returns the fields after an update: fields that the body names are replaced, all others keep their values. */
export function toUpdatedFields(before: MonitorFields, body: MonitorUpdate): MonitorFields {
  return { ...before, ...toCamelKeys(body) } as MonitorFields
}

const FIELD_NAMES = ['name', 'type', ...Object.keys(UNSET), ...Object.keys(CAMEL_DEFAULTS)]

/** Returns a stored monitor's fields in plain text. */
export function decryptFields(monitor: StoredMonitor, secrets: SecretCipher): MonitorFields {
  const fields = Object.fromEntries(
    FIELD_NAMES.map(name => [name, monitor[name as keyof StoredMonitor]]),
  ) as MonitorFields
  return {
    ...fields,
    headers: decryptHeaders(monitor, secrets),
    authConfig: decryptAuth(monitor, secrets)?.config ?? null,
  }
}

/** Returns the fields as they are stored. */
export function encryptFields(
  fields: MonitorFields,
  owner: Pick<StoredMonitor, 'id' | 'projectId'>,
  secrets: SecretCipher,
) {
  return {
    ...fields,
    headers: encryptHeaders(fields.headers, owner, secrets),
    authConfig: encryptAuth(fields.authConfig, owner, secrets),
  }
}

/** Encrypts the fields after a change. Unchanged fields keep their bytes; otherwise the audit log would record a change. */
export function encryptChanges(
  before: MonitorFields,
  after: MonitorFields,
  stored: StoredMonitor,
  secrets: SecretCipher,
) {
  const encrypted = encryptFields(after, stored, secrets)
  return {
    ...encrypted,
    headers: isDeepStrictEqual(before.headers, after.headers) ? stored.headers : encrypted.headers,
    authConfig: isDeepStrictEqual(before.authConfig, after.authConfig) ? stored.authConfig : encrypted.authConfig,
  }
}

/** Neither the check nor its evaluation depends on these fields. */
const CHECK_INDEPENDENT_FIELDS = ['name', 'tags', 'domainCheck'] as const

/** True when a change needs a new config version (docs/design/monitors.md#changes). */
export function changesTheCheck(before: MonitorFields, after: MonitorFields): boolean {
  return !isDeepStrictEqual(pickCheckFields(before), pickCheckFields(after))
}

function pickCheckFields(fields: MonitorFields) {
  const part: Partial<MonitorFields> = { ...fields, regions: [...fields.regions].sort() }
  for (const key of CHECK_INDEPENDENT_FIELDS) delete part[key]
  return part
}

/** `interval_seconds` → `intervalSeconds`, of the object's own keys only. */
function toCamelKeys(body: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      internName(key, () => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())),
      value,
    ]),
  )
}
