import { isIP } from 'node:net'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { parseServer } from './dns/dns-udp.ts'
import { createTargetFailure } from './failure.ts'
import { normalizeHost } from './guard/host.ts'
import { parseOwnAddresses } from './guard/own-addresses.ts'
import { findBlockReason, parseAllowedRanges, unwrapNat64 } from './guard/policy.ts'
import { createResolver, createSystemServers, type ResolveHost } from './guard/resolve.ts'
import { createIcmp, type Icmp } from './icmp/icmp.ts'
import type { Egress } from './types.ts'

export {
  type Cancellation,
  createCancellation,
  createDeadline,
  type DeadlineSignal,
} from './deadline.ts'
export { type DnsQueryResult, type DnsReply, queryDns } from './dns/dns.ts'
export { DeadlineExceededError, EgressFailure } from './failure.ts'
export { createResolver } from './guard/resolve.ts'
export { type Connections, createConnections } from './http/connections.ts'
export { type HttpRequest, type HttpResponse, sendPrepared, sendRequest } from './http/http.ts'
export { type PreparedRequest, prepareRequest } from './http/prepare.ts'
export { createIcmp, type Icmp } from './icmp/icmp.ts'
export { pingHost } from './icmp/ping.ts'
export { connectTcp, openTcp } from './tcp/connect.ts'
export { makeRoundTrip, type RoundTrip } from './tcp/round-trip.ts'
export { runTcpExchange, type TcpExchange } from './tcp/tcp-exchange.ts'

/** Maximum number of cached decisions about addresses. */
const MAX_CACHED_DECISIONS = 20_000

type EgressOptions = {
  /** CIDRs that are allowed although they are private or reserved (EGRESS_ALLOW) */
  allow: string[]
  /** parts of this installation (addresses or ranges, with or without a port) that are refused even if `allow` covers them (EGRESS_DENY) */
  deny?: string[]
  resolver?: ResolveHost
  /** PEM certificates that are trusted in addition to the public authorities */
  trust?: string[]
  icmp?: Icmp
  /** DNS servers as `address:port` for monitors that name none; default: those of /etc/resolv.conf */
  nameservers?: string[]
}

/** @throws ConfigError when `allow` or `deny` contains an invalid entry */
export function createEgress(options: EgressOptions): Egress {
  const allow = parseAllowedRanges(options.allow)
  const isOwnAddress = parseOwnAddresses(options.deny ?? [])
  const resolveName = options.resolver ?? createResolver()
  const { nameservers } = options
  const getNameservers = nameservers ? () => nameservers : createSystemServers()
  const reasons = new Map<string, string | null>()
  let secureContext: SecureContext | undefined

  function getBlockReason(address: string): string | null {
    const known = reasons.get(address)
    if (known !== undefined) return known
    if (reasons.size >= MAX_CACHED_DECISIONS) reasons.clear()
    const reason = findBlockReason(address, allow)
    reasons.set(address, reason)
    return reason
  }

  function assertAllowed(address: string, port: number | null, path: string | null = null): void {
    if (isOwnAddress?.(address, port, path)) {
      const place = port === null ? address : `${address} port ${port}`
      throw createTargetFailure('blocked_target', `${place} is part of this Picket installation and cannot be a target`)
    }
    const reason = getBlockReason(address)
    if (reason !== null) throw createTargetFailure('blocked_target', formatBlocked(address, reason))
  }

  async function resolveAndCheck(name: string, port: number | null, path?: string | null): Promise<string[]> {
    const resolved = await resolveName(name)
    // DNS64 of the network adds such addresses to the answer, and the name has the IPv4 address itself
    const addresses = [...new Set(resolved.map(one => (getBlockReason(one) === null ? one : unwrapNat64(one))))]
    for (const address of addresses) assertAllowed(address, port, path)
    if (addresses.length === 0) throw createTargetFailure('dns_not_found', 'the name has no address')
    return addresses
  }

  return {
    assertAllowed,
    icmp: options.icmp ?? createIcmp(),
    nameservers: () => getNameservers().map(parseServer),
    secureContext() {
      secureContext ??= createSecureContext(options.trust ? { ca: [...rootCertificates, ...options.trust] } : {})
      return secureContext
    },
    checkLiteral(host) {
      const name = normalizeHost(host)
      if (name === null || !isIP(name)) return null
      const reason = getBlockReason(name)
      return reason === null ? null : formatBlocked(host, reason)
    },
    resolve(host, port, path) {
      const name = isIP(host) ? host : normalizeHost(host)
      if (name === null) throw createTargetFailure('dns_not_found', `"${host}" is not a valid host`)
      if (!isIP(name)) return resolveAndCheck(name, port, path)
      assertAllowed(name, port, path)
      return [name]
    },
  }
}

const formatBlocked = (host: string, reason: string) => `${host} is ${reason} and cannot be a target`
