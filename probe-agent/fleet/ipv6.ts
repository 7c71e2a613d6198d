import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'

/** Whether the machine can check targets that have only an IPv6 address. `egressAllow`: see EGRESS_ALLOW. */
export function hasIpv6(egressAllow: readonly string[]): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap(found => found ?? [])
  const isUsable = addresses.some(
    ({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe80:/i.test(address),
  )
  // private targets that are allowed need no route to the internet
  return isUsable && (egressAllow.some(range => range.includes(':')) || reachesInternet(readRoutes()))
}

/** Null on a system without this file. */
function readRoutes(): string | null {
  try {
    return readFileSync('/proc/net/ipv6_route', 'utf8')
  } catch {
    return null
  }
}

/** A route to all addresses, or to all public ones (2000::/3). */
const MAX_PREFIX_LENGTH = 3

/**
 * Whether a routing table as in /proc/net/ipv6_route has a route to the internet. An address alone is not enough: containers and
 * VPNs have private ones. Without a table: true.
 */
export function reachesInternet(table: string | null): boolean {
  if (table === null) return true
  return table.split('\n').some(line => {
    const columns = line.trim().split(/\s+/)
    // the route that refuses everything belongs to the loopback device
    return columns.length === 10 && columns[9] !== 'lo' && Number.parseInt(columns[1]!, 16) <= MAX_PREFIX_LENGTH
  })
}
