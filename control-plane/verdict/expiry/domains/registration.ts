import { getDomain } from 'tldts'
import type { MonitorType } from '../../../../shared/checks/check.ts'
import { parseTarget } from '../../../../shared/checks/target.ts'

const DAY_MS = 86_400_000
const SAME_REGISTRATION_MS = 3 * DAY_MS
const FIRST_RETRY_MS = 900_000

/**
 * The registrable domain of a monitor's host ("example.co.uk"), by the public suffix list, in lower case and punycode.
 * Null for an IP address, a name without a public suffix, and a url without a host.
 */
export function findRegistrableDomain(type: MonitorType, url: string | null): string | null {
  const target = url === null ? null : parseTarget(type, url)
  if (target === null || 'error' in target) return null
  return getDomain(target.host, { allowPrivateDomains: false, validateHostname: true, extractHostname: false })
}

type Registration = { identity: string; expiresAt: Date }

/**
 * The identity of one registration period of a domain. RDAP and WHOIS may differ by hours about the same end, so a date
 * that moves by less than three days is the same registration. A renewal is a new one.
 */
export function buildRegistrationIdentity(domain: string, known: Registration | null, expiresAt: Date): string {
  const movedMs = known === null ? Number.POSITIVE_INFINITY : Math.abs(known.expiresAt.getTime() - expiresAt.getTime())
  if (known !== null && movedMs < SAME_REGISTRATION_MS) return known.identity
  return `${domain} ${expiresAt.toISOString().slice(0, 10)}`
}

/**
 * When a domain is looked up next: after a day, or after consecutive failures 15 min, 30 min, 1 h, up to a day; plus up to a tenth.
 */
export function computeNextLookup(failures: number, now: Date, jitterMs: (ms: number) => number): Date {
  const ms = failures === 0 ? DAY_MS : Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10))
  return new Date(now.getTime() + ms + jitterMs(ms / 10))
}
