import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../shared/egress/guard/host.ts'

/** Where a page is asked for: below `{origin}/status`, or at the root of a custom domain (decisions 7.2). */
export type Site = { slug: string } | { domain: string }

/** The key of a site among all sites. */
export const getSiteKey = (site: Site) => ('slug' in site ? `/${site.slug}` : site.domain)

export type CustomHostParser = (host: string | undefined) => string | null

const MAX_CACHED_HOSTS = 1_000

/** `customHostOf` for an installation, which remembers what it was asked: every request names a host. */
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
 * The domain that a request's Host header names when it may be a page's own; null for this installation's hosts, for
 * addresses and for names without a dot, by which proxies and probes reach a process.
 */
export function parseCustomHost(host: string | undefined, own: readonly string[]): string | null {
  const name = host === undefined ? null : normalizeHost(host.replace(/:\d+$/, ''))
  if (name === null || ipaddr.isValid(name) || !name.includes('.')) return null
  return own.includes(name) || name.endsWith('.localhost') ? null : name
}

/** Whether a text can be a page's slug (specification, "Status page"). */
export const isSlug = (text: string): boolean => /^[a-z0-9-]{1,50}$/.test(text)
