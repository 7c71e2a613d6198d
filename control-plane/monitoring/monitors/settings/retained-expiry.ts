import { parseTarget } from '../../../../shared/checks/target.ts'
import type { StoredMonitor } from '../types.ts'

type ExpirySource = Pick<StoredMonitor, 'type' | 'url' | 'sslCheck' | 'domainCheck'>
type ExpiryDates = Pick<StoredMonitor, 'sslExpiresAt' | 'domainExpiresAt'>

/**
 * Returns the expiry dates that a changed monitor keeps. A certificate belongs to an origin and a registration to a host;
 * a date is dropped when its check is turned off, or when the new type makes no HTTP requests: `sslCheck` stays true then,
 * but no result has a certificate any more.
 */
export function retainExpiry(before: ExpirySource & ExpiryDates, after: ExpirySource): ExpiryDates {
  const isSameOrigin = after.sslCheck && isHttp(after) && getOrigin(before) === getOrigin(after)
  const isSameHost = after.domainCheck && getHost(before) === getHost(after)
  return {
    sslExpiresAt: isSameOrigin ? before.sslExpiresAt : null,
    domainExpiresAt: isSameHost ? before.domainExpiresAt : null,
  }
}

const isHttp = ({ type }: ExpirySource): boolean => type === 'http' || type === 'keyword'

const getOrigin = ({ url }: ExpirySource): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).origin : url

function getHost({ type, url }: ExpirySource): string | null {
  const target = url === null ? null : parseTarget(type, url)
  return target === null || 'error' in target ? null : target.host
}
