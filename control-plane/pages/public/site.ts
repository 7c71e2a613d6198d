import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../shared/egress/guard/host.ts'

/**
 * The address of a requested page: below `{origin}/status`, or at the root of a custom domain
 * (docs/design/status-pages.md#public-site).
 */
export type Site = { slug: string } | { domain: string }

/** A key that is unique among all sites. */
export const getSiteKey = (site: Site) => ('slug' in site ? `/${site.slug}` : site.domain)

export type CustomHostParser = (host: string | undefined) => string | null

const MAX_CACHED_HOSTS = 1_000

/** `parseCustomHost` with a cache, because every request has a host. */
export function createCustomHostParser(own: readonly string[]): CustomHostParser {
  const known = new Map<string | undefined, string | null>()
  return host => {
    const before = known.get(host)
    if (before !== undefined) return before
    if (known.size >= MAX_CACHED_HOSTS) known.clear()
    const domain = parseCustomHost(host, own)
    known.set(host, domain)
    return domain
  }
}

/**
 * The domain in a Host header when it may be a custom domain. Null for the hosts of this installation, for IP addresses
 * and for names without a dot, with which proxies and probes reach a process.
 */
export function parseCustomHost(host: string | undefined, own: readonly string[]): string | null {
  const name = host === undefined ? null : normalizeHost(host.replace(/:\d+$/, ''))
  if (name === null || ipaddr.isValid(name) || !name.includes('.')) return null
  return own.includes(name) || name.endsWith('.localhost') ? null : name
}

/** Whether a text is a valid slug. */
export const isSlug = (text: string): boolean => /^[a-z0-9-]{1,50}$/.test(text)
