import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../shared/egress/host.ts'

/** Which values of `Host` are answered: another name may be one that a web page has pointed at this machine. */
export type IsAcceptedHost = (host: string | undefined) => boolean

const MOST_KEPT = 1_000

/** Whether a host is this machine alone: `localhost`, a name below it, or a loopback address. */
export function isLoopback(host: string): boolean {
  const name = normalizeHost(host) ?? ''
  return name === 'localhost' || name.endsWith('.localhost') || (ipaddr.isValid(name) && isLoopbackAddress(name))
}

const isLoopbackAddress = (address: string) => ipaddr.process(address).range() === 'loopback'

/**
 * `own`: hosts of the installation's own, without a port; `listensAt`: HOST. Remembers what it was asked, since every request
 * names a host.
 */
export function createIsAcceptedHost(own: readonly string[], listensAt: string): IsAcceptedHost {
  const names = new Set(own.map(nameOf))
  const isLocal = isLoopback(listensAt)
  const known = new Map<string | undefined, boolean>()
  return host => {
    const before = known.get(host)
    if (before !== undefined) return before
    if (known.size >= MOST_KEPT) known.clear()
    const name = nameOf(host ?? '')
    const isAccepted = name !== null && (names.has(name) || (isLocal && isLoopback(name)))
    known.set(host, isAccepted)
    return isAccepted
  }
}

/** Without the port, in the one spelling of a name or an address; null when it is no host. */
const nameOf = (host: string): string | null => normalizeHost(host.replace(/:\d+$/, ''))
