import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../../shared/egress/guard/host.ts'
import { ConfigError } from '../../../../shared/process/env.ts'
import { isLoopback } from '../../platform/network/loopback.ts'

/**
 * Which values of `Host` a route answers. Another name may be one that a web page has pointed at this machine, to read here
 * what the page may not.
 */
export type IsAcceptedHost = (host: string | undefined, hosts: HostRule | undefined) => boolean

/**
 * `any`: routes that give nothing away, or that look at the name themselves: liveness, ping URLs, canaries, pages of custom domains.
 * `inside`: for the operator's programs, which ask by an address or a name without a dot. Left out: the installation's own
 * hosts only.
 */
export type HostRule = 'any' | 'inside'

declare module 'fastify' {
  interface FastifyContextConfig {
    hosts?: HostRule
  }
}

const MAX_CACHED_HOSTS = 1_000

/**
 * `own`: hosts of the installation's own, without a port; `listensAt`: HOST. Remembers what it was asked, since every request
 * names a host.
 */
export function createIsAcceptedHost(own: readonly string[], listensAt: string): IsAcceptedHost {
  const names = new Set(own.map(normalizeName))
  const isLocal = isLoopback(listensAt)
  const known = new Map<string | undefined, Reach>()
  const reachOf = (host: string | undefined): Reach => {
    const name = normalizeName(host ?? '')
    if (name === null) return 'foreign'
    if (names.has(name) || (isLocal && isLoopback(name))) return 'own'
    return ipaddr.isValid(name) || !name.includes('.') ? 'inside' : 'foreign'
  }
  return (host, hosts) => {
    if (hosts === 'any') return true
    const before = known.get(host)
    const reach = before ?? reachOf(host)
    if (before === undefined) {
      if (known.size >= MAX_CACHED_HOSTS) known.clear()
      known.set(host, reach)
    }
    return reach === 'own' || (reach === 'inside' && hosts === 'inside')
  }
}

type Reach = 'own' | 'inside' | 'foreign'

/** ALLOWED_HOSTS, one of them. Throws a ConfigError. */
export function parseAllowedHost(text: string): string {
  const name = normalizeName(text)
  if (name !== null) return name
  throw new ConfigError(`ALLOWED_HOSTS has "${text}"; write hosts such as picket.example.com or 192.0.2.7`)
}

/** Without the port, in the one spelling of a name or an address; null when it is not a host. */
const normalizeName = (host: string): string | null => normalizeHost(isIP(host) ? host : host.replace(/:\d+$/, ''))
