import ipaddr from 'ipaddr.js'
import { getDomain } from 'tldts'
import { normalizeHost } from '../../../shared/egress/guard/host.ts'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * A custom domain in the one form in which it is kept: lower case, punycode, no dot at its end. `own` are the hosts of
 * this installation, which nobody may take. Answers why not otherwise.
 */
export function parseCustomDomain(text: string, own: readonly string[]): { domain: string } | { problem: string } {
  const domain = normalizeHost(text.trim())
  if (domain === null) return { problem: 'domain has to be a hostname such as status.example.com' }
  if (ipaddr.isValid(domain)) return { problem: 'domain has to be a hostname, not an address' }
  if (!domain.split('.').every(label => LABEL.test(label))) {
    return { problem: 'domain has to be made of letters, digits and hyphens, such as status.example.com' }
  }
  if (getDomain(domain, { allowPrivateDomains: true }) === null) {
    return { problem: `${domain} is no name below a public domain such as .com` }
  }
  if (own.some(host => domain === host || domain.endsWith(`.${host}`))) {
    return { problem: `${domain} belongs to this service` }
  }
  return { domain }
}

/** The names at which a zone may begin that holds `domain`: itself, then each parent down to the registered one. */
export function listZoneCandidates(domain: string): string[] {
  const registered = getDomain(domain, { allowPrivateDomains: true }) ?? domain
  const labels = domain.split('.')
  const names = labels.map((_label, index) => labels.slice(index).join('.'))
  return names.filter(name => name === registered || name.endsWith(`.${registered}`))
}

/** What stands in front of the zone: `status` of `status.example.com` in `example.com`; empty for the zone itself. */
export const getHostInZone = (zone: string, domain: string): string =>
  domain === zone ? '' : domain.slice(0, -(zone.length + 1))

/** Where the proof of ownership stands. */
export const buildChallengeName = (domain: string) => `_picket-challenge.${domain}`
