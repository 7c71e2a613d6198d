import ipaddr from 'ipaddr.js'
import { getDomain } from 'tldts'
import { normalizeHost } from '../../../shared/egress/guard/host.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The stored form of a custom domain: lower case, punycode, no trailing dot. `own`: the hosts of this installation,
 * which are not accepted. Returns a problem for any other text.
 */
export function parseCustomDomain(text: string, own: readonly string[]): { domain: string } | { problem: string } {
  const domain = normalizeHost(text.trim())
  if (domain === null) return { problem: 'domain must be a hostname, such as status.example.com' }
  if (ipaddr.isValid(domain)) return { problem: 'domain must be a hostname, not an IP address' }
  if (!domain.split('.').every(label => LABEL.test(label))) {
    return { problem: 'domain must consist of letters, digits and hyphens, such as status.example.com' }
  }
  if (getDomain(domain, { allowPrivateDomains: true }) === null) {
    return { problem: `domain must be below a public suffix, such as .com; ${domain} is not` }
  }
  if (own.some(host => domain === host || domain.endsWith(`.${host}`))) {
    return { problem: `${domain} is a host of this service` }
  }
  return { domain }
}

/** The names of zones that may contain `domain`: itself, then each parent down to the registered domain. */
export function listZoneCandidates(domain: string): string[] {
  const registered = getDomain(domain, { allowPrivateDomains: true }) ?? domain
  const labels = domain.split('.')
  const names = labels.map((_label, index) => labels.slice(index).join('.'))
  return names.filter(name => name === registered || name.endsWith(`.${registered}`))
}

/** The part before the zone: `status` for `status.example.com` in `example.com`; empty for the zone itself. */
export const getHostInZone = (zone: string, domain: string): string =>
  domain === zone ? '' : domain.slice(0, -(zone.length + 1))

/** The name of the TXT record that proves ownership. */
export const buildChallengeName = (domain: string) => `_picket-challenge.${domain}`
