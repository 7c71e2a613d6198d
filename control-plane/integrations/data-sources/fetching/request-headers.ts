import type { HeaderMap } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { SourceSecrets } from '../configuration/encryption.ts'
import type { StoredSource } from '../types.ts'

/** Builds the headers of a fetch. Credentials replace configured headers, which replace the defaults. */
export function buildRequestHeaders(
  { method, body, authType }: Pick<StoredSource, 'method' | 'body' | 'authType'>,
  { headers, authConfig }: SourceSecrets,
): HeaderMap {
  const defaults = {
    accept: 'application/json',
    ...(method === 'POST' && body && { 'content-type': 'application/json' }),
  }
  const auth = authType && authConfig ? buildAuthHeader(authType, authConfig as Record<string, string>) : {}
  return [headers ?? {}, auth].reduce(mergeHeaders, defaults)
}

function buildAuthHeader(type: NonNullable<StoredSource['authType']>, config: Record<string, string>): HeaderMap {
  switch (type) {
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${config.username}:${config.password}`).toString('base64')}` }
    case 'bearer':
      return { authorization: `Bearer ${config.token}` }
    case 'api_key':
      return { [config.header!]: config.value! }
  }
}

/** Merges headers. Names are case-insensitive, and added headers replace earlier ones. */
function mergeHeaders(headers: HeaderMap, added: HeaderMap): HeaderMap {
  const names = new Set(Object.keys(added).map(name => name.toLowerCase()))
  const others = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...added }
}
