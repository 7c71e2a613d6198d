import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../../shared/egress/guard/host.ts'
import { ConfigError } from '../../../../shared/process/env.ts'
import { isLoopback } from '../../platform/network/loopback.ts'

/**
 * Decides which values of `Host` a route accepts (docs/design/api.md#hosts). Another name may belong to a web page that
 * points it at this machine (DNS rebinding).
 */
export type IsAcceptedHost = (host: string | undefined, hosts: HostRule | undefined) => boolean

/**
 * `any`: routes that reveal nothing or check the name themselves: liveness, ping URLs, canaries, pages of custom domains.
 * `inside`: for the operator's programs, which use an address or a name without a dot. Undefined: the installation's own
 * hosts only.
 */
type HostRule = 'any' | 'inside'

declare module 'fastify' {
  interface FastifyContextConfig {
    hosts?: HostRule
  }
}

const MAX_CACHED_HOSTS = 1_000

/**
 * `own`: the installation's hosts, without a port; `listensAt`: HOST. Caches its decisions, because every request has a host.
 */
export function createIsAcceptedHost(own: readonly string[], listensAt: string): IsAcceptedHost {
  const names = new Set(own.map(normalizeName))
  const isLocal = isLoopback(listensAt)
  const known = new Map<string | undefined, Reach>()
  const classify = (host: string | undefined): Reach => {
    const name = normalizeName(host ?? '')
    if (name === null) return 'foreign'
    if (names.has(name) || (isLocal && isLoopback(name))) return 'own'
    return ipaddr.isValid(name) || !name.includes('.') ? 'inside' : 'foreign'
  }
  return (host, hosts) => {
    if (hosts === 'any') return true
    const cached = known.get(host)
    const reach = cached ?? classify(host)
    if (cached === undefined) {
      if (known.size >= MAX_CACHED_HOSTS) known.clear()
      known.set(host, reach)
    }
    return reach === 'own' || (reach === 'inside' && hosts === 'inside')
  }
}

type Reach = 'own' | 'inside' | 'foreign'

/** One entry of ALLOWED_HOSTS. Throws a ConfigError. */
export function parseAllowedHost(text: string): string {
  const name = normalizeName(text)
  if (name !== null) return name
  throw new ConfigError(`ALLOWED_HOSTS contains "${text}"; use hosts such as picket.example.com or 192.0.2.7`)
}

/** The host without its port, in one normalized spelling; null when it is not a host. */
const normalizeName = (host: string): string | null => normalizeHost(isIP(host) ? host : host.replace(/:\d+$/, ''))
