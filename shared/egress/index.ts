import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { parseServer } from './dns/dns-udp.ts'
import { createTargetFailure } from './failure.ts'
import { normalizeHost } from './guard/host.ts'
import { parseOwnAddresses } from './guard/own-addresses.ts'
import { findBlockReason, parseAllowedRanges } from './guard/policy.ts'
import { createResolver, type ResolveHost } from './guard/resolve.ts'
import { createIcmp, type Icmp } from './icmp/icmp.ts'
import type { Egress } from './types.ts'

export {
  type Cancellation,
  createCancellation,
  createDeadline,
  type Deadline,
  type DeadlineSignal,
} from './deadline.ts'
export { type DnsQueryResult, type DnsReply, queryDns } from './dns/dns.ts'
export { DeadlineExceeded, EgressFailure, toCheckError } from './failure.ts'
export { createResolver, type ResolveHost } from './guard/resolve.ts'
export { type Connections, createConnections } from './http/connections.ts'
export { type HttpRequest, type HttpResponse, sendPrepared, sendRequest } from './http/http.ts'
export { type PreparedRequest, prepareRequest } from './http/prepare.ts'
export { createIcmp, type Icmp } from './icmp/icmp.ts'
export { type PingResult, pingHost } from './icmp/ping.ts'
export { type ConnectResult, connectTcp, openTcp } from './tcp/connect.ts'
export { makeRoundTrip, type RoundTrip } from './tcp/round-trip.ts'
export { runTcpExchange, type TcpExchange } from './tcp/tcp-exchange.ts'

/** Verdicts kept, so that a target checked every 30 s is not judged anew each time. */
const MAX_CACHED_VERDICTS = 20_000

export type EgressOptions = {
  /** CIDRs that may be reached although they are private or reserved (EGRESS_ALLOW) */
  allow: string[]
  /** parts of this installation that are closed whatever `allow` says, as `address:port` (EGRESS_DENY; guard/own-addresses.ts) */
  deny?: string[]
  resolver?: ResolveHost
  /** certificates in PEM trusted beside the public authorities */
  trust?: string[]
  icmp?: Icmp
  /** DNS servers as `address:port`, instead of those of /etc/resolv.conf, for monitors that name none */
  nameservers?: string[]
}

/** @throws ConfigError when a text of `allow` is not a range of addresses, or one of `deny` not an address and port */
export function createEgress(options: EgressOptions): Egress {
  const allow = parseAllowedRanges(options.allow)
  const isOwnPlace = parseOwnAddresses(options.deny ?? [])
  const resolveName = options.resolver ?? createResolver()
  const verdicts = new Map<string, string | null>()
  let secureContext: SecureContext | undefined

  function refusal(address: string): string | null {
    const known = verdicts.get(address)
    if (known !== undefined) return known
    if (verdicts.size >= MAX_CACHED_VERDICTS) verdicts.clear()
    const verdict = findBlockReason(address, allow)
    verdicts.set(address, verdict)
    return verdict
  }

  function assertAllowed(address: string, port: number | null, path: string | null = null): void {
    if (isOwnPlace !== null && port !== null && isOwnPlace(address, port, path)) {
      throw createTargetFailure(
        'blocked_target',
        `${address} port ${port} is part of Picket itself, which must not be checked`,
      )
    }
    const why = refusal(address)
    if (why !== null) throw createTargetFailure('blocked_target', `${address} is ${why}, which must not be checked`)
  }

  async function resolveAndCheck(name: string, port: number | null, path?: string | null): Promise<string[]> {
    const addresses = await resolveName(name)
    for (const address of addresses) assertAllowed(address, port, path)
    if (addresses.length === 0) throw createTargetFailure('dns_not_found', 'the name has no address')
    return addresses
  }

  return {
    assertAllowed,
    icmp: options.icmp ?? createIcmp(),
    nameservers: () => (options.nameservers ?? getServers()).map(parseServer),
    secureContext() {
      secureContext ??= createSecureContext(options.trust ? { ca: [...rootCertificates, ...options.trust] } : {})
      return secureContext
    },
    checkLiteral(host) {
      const name = normalizeHost(host)
      if (name === null || !isIP(name)) return null
      const why = refusal(name)
      return why === null ? null : `${host} is ${why}, which must not be checked`
    },
    resolve(host, port, path) {
      const name = isIP(host) ? host : normalizeHost(host)
      if (name === null) throw createTargetFailure('dns_not_found', `"${host}" is not a host`)
      if (!isIP(name)) return resolveAndCheck(name, port, path)
      assertAllowed(name, port, path)
      return [name]
    },
  }
}
