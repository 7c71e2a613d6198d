import { parseTarget } from '../../../../shared/checks/target.ts'
import type { StoredMonitor } from '../types.ts'

type ExpirySource = Pick<StoredMonitor, 'type' | 'url' | 'sslCheck' | 'domainCheck'>
type ExpiryDates = Pick<StoredMonitor, 'sslExpiresAt' | 'domainExpiresAt'>

/**
 * The dates that a changed monitor keeps: a certificate belongs to an origin, a registration to a host, and neither is
 * known of what is not checked for it any more.
 */
export function retainExpiry(before: ExpirySource & ExpiryDates, after: ExpirySource): ExpiryDates {
  const isSameOrigin = after.sslCheck && getOrigin(before) === getOrigin(after)
  const isSameHost = after.domainCheck && getHost(before) === getHost(after)
  return {
    sslExpiresAt: isSameOrigin ? before.sslExpiresAt : null,
    domainExpiresAt: isSameHost ? before.domainExpiresAt : null,
  }
}

const getOrigin = ({ url }: ExpirySource): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).origin : url

function getHost({ type, url }: ExpirySource): string | null {
  const target = url === null ? null : parseTarget(type, url)
  return target === null || 'error' in target ? null : target.host
}
