import type { AuthConfig } from './credentials.ts'
import { type HeaderMap, isSensitiveName, MASK } from './header-map.ts'
import { isSameOrigin } from './same-origin.ts'

/** An address with the headers and credentials that are sent to it, in plain text. */
type OutboundSecrets = { url: string | null; headers: HeaderMap | null; authConfig: AuthConfig | null }

/** The changes in a request body; absent properties stay unchanged. */
type SecretChanges = { headers?: HeaderMap | null; auth_config?: AuthConfig | null }

/** The stored secrets that an update would send to another origin than before, as paths such as `headers.X-Api-Key`. */
export function findRedirectedSecrets(before: OutboundSecrets, after: OutboundSecrets, sent: SecretChanges): string[] {
  if (after.url === null || isSameOrigin(before.url, after.url)) return []
  const kept = sent.headers === undefined ? before.headers : pickMasked(sent.headers)
  const headers = Object.keys(kept ?? {}).filter(isSensitiveName)
  const { auth_config: auth } = sent
  const isAuthKept = auth === undefined ? after.authConfig !== null : Object.values(auth ?? {}).includes(MASK)
  return [...(isAuthKept ? ['auth_config'] : []), ...headers.map(name => `headers.${name}`)]
}

const pickMasked = (headers: HeaderMap | null) =>
  Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value === MASK))
