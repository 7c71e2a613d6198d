import type { AuthConfig } from './credentials.ts'
import { type HeaderMap, isSensitiveName, MASK } from './header-map.ts'
import { isSameOrigin } from './origin.ts'

/** What is sent to an address: its headers and credentials, in plain text. */
export type Sendable = { url: string | null; headers: HeaderMap | null; authConfig: AuthConfig | null }

/** What a body says of it; what it does not name stays. */
export type Sent = { headers?: HeaderMap | null; auth_config?: AuthConfig | null }

/** The stored secrets that an update would send to another origin than before: places such as `headers.X-Api-Key`. */
export function secretsLedElsewhere(before: Sendable, after: Sendable, sent: Sent): string[] {
  if (after.url === null || isSameOrigin(before.url, after.url)) return []
  const kept = sent.headers === undefined ? before.headers : maskedOf(sent.headers)
  const headers = Object.keys(kept ?? {}).filter(isSensitiveName)
  const { auth_config: auth } = sent
  const isAuthKept = auth === undefined ? after.authConfig !== null : Object.values(auth ?? {}).includes(MASK)
  return [...(isAuthKept ? ['auth_config'] : []), ...headers.map(name => `headers.${name}`)]
}

const maskedOf = (headers: HeaderMap | null) =>
  Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value === MASK))
