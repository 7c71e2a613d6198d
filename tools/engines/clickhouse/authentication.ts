import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { equalSecrets } from '../../../control-plane/foundation/platform/crypto/encryption.ts'

export const CLICKHOUSE_USER = 'picket'

/** Characters that stay as they are in a URL. */
export const generatePassword = () => randomBytes(32).toString('base64url')

/**
 * Why a request may not reach the engine, or null. A browser sends `Origin`, or a `Host` that leads here by a name; what
 * asks without the password is not Picket. The port of `Host` may be another one: that of a tunnel in front.
 */
export function findAuthenticationProblem(headers: IncomingHttpHeaders, password: string): string | null {
  if (headers.origin !== undefined) return 'requests of web pages are not answered'
  if (!/^127\.0\.0\.1(:\d{1,5})?$/.test(headers.host ?? '')) return 'Host is not the address of this server'
  const expected = `Basic ${Buffer.from(`${CLICKHOUSE_USER}:${password}`).toString('base64')}`
  return equalSecrets(headers.authorization ?? '', expected)
    ? null
    : 'the password of CLICKHOUSE_URL is missing or wrong'
}
