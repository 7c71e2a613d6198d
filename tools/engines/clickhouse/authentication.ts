import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { equalSecrets } from '../../../control-plane/foundation/platform/crypto/encryption.ts'

export const CLICKHOUSE_USER = 'picket'

/** Uses only characters that need no escaping in a URL. */
export const generatePassword = () => randomBytes(32).toString('base64url')

/**
 * The reason why a request is refused, or null. Browsers send `Origin`, or a `Host` that is a name; requests without the
 * password are not from Picket. The port in `Host` may be that of a tunnel.
 */
export function findAuthenticationProblem(headers: IncomingHttpHeaders, password: string): string | null {
  if (headers.origin !== undefined) return 'requests from web pages are refused'
  if (!/^127\.0\.0\.1(:\d{1,5})?$/.test(headers.host ?? '')) return 'Host is not the address of this server'
  const expected = `Basic ${Buffer.from(`${CLICKHOUSE_USER}:${password}`).toString('base64')}`
  return equalSecrets(headers.authorization ?? '', expected)
    ? null
    : 'the password of CLICKHOUSE_URL is missing or wrong'
}
