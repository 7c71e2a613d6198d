import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { targetFailure } from './failure.ts'
import { normalizeHost } from './host.ts'
import { createIcmp, type Icmp } from './icmp.ts'
import { parseOwnPlaces } from './own-places.ts'
import { parseAllow, refusalOf } from './policy.ts'
import { createResolver, type ResolveHost } from './resolve.ts'
import { parseServer, type UdpServer } from './udp.ts'

export { type Asked, ask } from './ask.ts'
export { type Connected, connectTcp, openTcp } from './connect.ts'
export { type Connections, createConnections } from './connections.ts'
export { type Cancellation, createCancellation, createDeadline, type Deadline, type Signal } from './deadline.ts'
export { askDns, type DnsReply, type DnsSeen } from './dns.ts'
export { checkErrorOf, DeadlineExceeded, EgressFailure } from './failure.ts'
export { type HttpAnswer, type HttpRequest, request, send } from './http.ts'
export { createIcmp, type Icmp } from './icmp.ts'
export { type Pinged, pingHost } from './ping.ts'
export { type Prepared, prepareRequest } from './prepare.ts'
export { createResolver, type ResolveHost } from './resolve.ts'
export { type Talked, talkTcp } from './talk.ts'

/** The one guard for every outbound socket of both programs (decisions 11.3). */
export type Egress = {
  /** Why a host given as a literal address may not be a target, or null. A name passes: it is checked at connect. */
  checkLiteral: (host: string) => string | null
  /**
   * Throws an EgressFailure (`blocked_target`) when this IP address may not be connected to, at this port and for this path.
   * `port` null: the protocol has none. `path` null: it is not HTTP, or not known.
   */
  assertAllowed: (address: string, port: number | null, path?: string | null) => void
  /**
   * The addresses of a name or literal, every one of them allowed: a name of which only some are allowed is refused
   * as a whole. Throws an EgressFailure: `blocked_target`, `dns_not_found`, or the resolver's own `dns_failed`,
   * `dns_timeout`.
   */
  resolve: (host: string, port: number | null, path?: string | null) => Promise<string[]> | string[]
  /** What TLS trusts, made once: node would load the authorities anew for each connection. */
  secureContext: () => SecureContext
  /** how echoes leave this machine, opened when it is first needed */
  icmp: Icmp
  /** the system's own DNS servers; the operator trusts them, so they may stand in any range */
  nameservers: () => UdpServer[]
}

/** Verdicts kept, so that a target checked every 30 s is not judged anew each time. */
const VERDICTS_KEPT = 20_000

export type EgressOptions = {
  /** CIDRs that may be reached although they are private or reserved (EGRESS_ALLOW) */
  allow: string[]
  /** parts of this installation that are closed whatever `allow` says, as `address:port` (EGRESS_DENY; own-places.ts) */
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
  const allow = parseAllow(options.allow)
  const isOwnPlace = parseOwnPlaces(options.deny ?? [])
  const resolveName = options.resolver ?? createResolver()
  const verdicts = new Map<string, string | null>()
  let secureContext: SecureContext | undefined

  function refusal(address: string): string | null {
    const known = verdicts.get(address)
    if (known !== undefined) return known
    if (verdicts.size >= VERDICTS_KEPT) verdicts.clear()
    const verdict = refusalOf(address, allow)
    verdicts.set(address, verdict)
    return verdict
  }

  function assertAllowed(address: string, port: number | null, path: string | null = null): void {
    if (isOwnPlace !== null && port !== null && isOwnPlace(address, port, path)) {
      throw targetFailure(
        'blocked_target',
        `${address} port ${port} is part of Picket itself, which must not be checked`,
      )
    }
    const why = refusal(address)
    if (why !== null) throw targetFailure('blocked_target', `${address} is ${why}, which must not be checked`)
  }

  async function resolveAndCheck(name: string, port: number | null, path?: string | null): Promise<string[]> {
    const addresses = await resolveName(name)
    for (const address of addresses) assertAllowed(address, port, path)
    if (addresses.length === 0) throw targetFailure('dns_not_found', 'the name has no address')
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
      if (name === null) throw targetFailure('dns_not_found', `"${host}" is not a host`)
      if (!isIP(name)) return resolveAndCheck(name, port, path)
      assertAllowed(name, port, path)
      return [name]
    },
  }
}
