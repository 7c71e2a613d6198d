import { isDeepStrictEqual } from 'node:util'
import { createOneOfEach } from '../platform/one-of-each.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { HeaderMap } from '../web/header-map.ts'
import { DEFAULTS, type MonitorCreate, type MonitorUpdate } from './schema.ts'
import { type AuthConfig, openAuth, openHeaders, sealAuth, sealHeaders } from './sealed.ts'
import type { StoredMonitor } from './types.ts'

type Sealed = 'headers' | 'authConfig'
type Kept =
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

/** What a user configures of a monitor, in plain text. */
export type MonitorFields = Omit<StoredMonitor, Kept | Sealed> & {
  headers: HeaderMap | null
  authConfig: AuthConfig | null
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

const nameOf = createOneOfEach<string>(1_000)
const CAMEL_DEFAULTS = camelKeys(DEFAULTS)

/** A create body with the specification's defaults, also for what it says null of. */
export function fieldsOfCreate(body: MonitorCreate): MonitorFields {
  const named = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  return { ...UNSET, ...CAMEL_DEFAULTS, ...camelKeys(named) } as MonitorFields
}

/** The fields after an update: what the body names is replaced, everything else stays. */
export function fieldsOfUpdate(before: MonitorFields, body: MonitorUpdate): MonitorFields {
  return { ...before, ...camelKeys(body) } as MonitorFields
}

const FIELD_NAMES = ['name', 'type', ...Object.keys(UNSET), ...Object.keys(CAMEL_DEFAULTS)]

/** A stored monitor's fields, opened. */
export function fieldsOf(monitor: StoredMonitor, secrets: Secrets): MonitorFields {
  const fields = Object.fromEntries(
    FIELD_NAMES.map(name => [name, monitor[name as keyof StoredMonitor]]),
  ) as MonitorFields
  return {
    ...fields,
    headers: openHeaders(monitor, secrets),
    authConfig: openAuth(monitor, secrets)?.config ?? null,
  }
}

/** The fields as columns hold them. */
export function sealFields(fields: MonitorFields, owner: Pick<StoredMonitor, 'id' | 'projectId'>, secrets: Secrets) {
  return {
    ...fields,
    headers: sealHeaders(fields.headers, owner, secrets),
    authConfig: sealAuth(fields.authConfig, owner, secrets),
  }
}

/** The same after a change. What did not change keeps its bytes: sealed anew, it would be told as changed. */
export function sealChanges(before: MonitorFields, after: MonitorFields, stored: StoredMonitor, secrets: Secrets) {
  const sealed = sealFields(after, stored, secrets)
  return {
    ...sealed,
    headers: isDeepStrictEqual(before.headers, after.headers) ? stored.headers : sealed.headers,
    authConfig: isDeepStrictEqual(before.authConfig, after.authConfig) ? stored.authConfig : sealed.authConfig,
  }
}

/** Neither what is looked at nor how it is judged hangs on these. */
const UNCHECKED = ['name', 'tags', 'domainCheck'] as const

/** True when a change asks for a new config version, which starts the regions' streaks anew (decisions 4.6). */
export function changesTheCheck(before: MonitorFields, after: MonitorFields): boolean {
  return !isDeepStrictEqual(checkedPart(before), checkedPart(after))
}

function checkedPart(fields: MonitorFields) {
  const part: Partial<MonitorFields> = { ...fields, regions: [...fields.regions].sort() }
  for (const key of UNCHECKED) delete part[key]
  return part
}

/** `interval_seconds` → `intervalSeconds`, of the object's own keys only. */
function camelKeys(body: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      nameOf(key, () => key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())),
      value,
    ]),
  )
}
