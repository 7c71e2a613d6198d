import { isSensitiveName, MASK } from '../web/header-map.ts'
import { isSameOrigin } from '../web/origin.ts'
import type { MonitorFields } from './fields.ts'
import type { MonitorCreate, MonitorUpdate } from './schema.ts'

/** The stored secrets that an update would send to another origin than before: places such as `headers.X-Api-Key`. */
export function secretsLedElsewhere(before: MonitorFields, after: MonitorFields, body: MonitorUpdate): string[] {
  if (after.url === null || isSameOrigin(before.url, after.url)) return []
  const kept = body.headers === undefined ? before.headers : maskedOf(body.headers)
  const headers = Object.keys(kept ?? {}).filter(isSensitiveName)
  return [...(after.authConfig === null ? [] : ['auth_config']), ...headers.map(name => `headers.${name}`)]
}

/** The same for a body that keeps nothing but what it masks. */
export function masksLedElsewhere(before: MonitorFields, after: MonitorFields, body: MonitorCreate): string[] {
  if (after.url === null || isSameOrigin(before.url, after.url)) return []
  const isAuthKept = Object.values(body.auth_config ?? {}).includes(MASK)
  const headers = Object.keys(maskedOf(body.headers ?? null)).filter(isSensitiveName)
  return [...(isAuthKept ? ['auth_config'] : []), ...headers.map(name => `headers.${name}`)]
}

const maskedOf = (headers: Record<string, string> | null) =>
  Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value === MASK))
