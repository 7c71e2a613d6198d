import type { HeaderMap } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { SourceSecrets } from '../configuration/encryption.ts'
import type { StoredSource } from '../types.ts'

/** The headers that a source is asked with: its own, on top of ours, below what its credentials stand for. */
export function buildRequestHeaders(
  { method, body, authType }: Pick<StoredSource, 'method' | 'body' | 'authType'>,
  { headers, authConfig }: SourceSecrets,
): HeaderMap {
  const ours = { accept: 'application/json', ...(method === 'POST' && body && { 'content-type': 'application/json' }) }
  const auth = authType && authConfig ? buildAuthHeader(authType, authConfig as Record<string, string>) : {}
  return [headers ?? {}, auth].reduce(mergeHeaders, ours)
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

/** A name is the same in any case, and the later one counts. */
function mergeHeaders(headers: HeaderMap, added: HeaderMap): HeaderMap {
  const names = new Set(Object.keys(added).map(name => name.toLowerCase()))
  const others = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...added }
}
