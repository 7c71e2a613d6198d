import { parseTarget } from '../../shared/target.ts'
import type { StoredMonitor } from './types.ts'

type Watched = Pick<StoredMonitor, 'type' | 'url' | 'sslCheck' | 'domainCheck'>
type Dates = Pick<StoredMonitor, 'sslExpiresAt' | 'domainExpiresAt'>

/**
 * The dates that a changed monitor keeps: a certificate belongs to an origin, a registration to a host, and neither is
 * known of what is not checked for it any more.
 */
export function keptExpiry(before: Watched & Dates, after: Watched): Dates {
  const isSameOrigin = after.sslCheck && originOf(before) === originOf(after)
  const isSameHost = after.domainCheck && hostOf(before) === hostOf(after)
  return {
    sslExpiresAt: isSameOrigin ? before.sslExpiresAt : null,
    domainExpiresAt: isSameHost ? before.domainExpiresAt : null,
  }
}

const originOf = ({ url }: Watched): string | null => (url !== null && URL.canParse(url) ? new URL(url).origin : url)

function hostOf({ type, url }: Watched): string | null {
  const target = url === null ? null : parseTarget(type, url)
  return target === null || 'error' in target ? null : target.host
}
