import type { SecureContext } from 'node:tls'
import type { UdpServer } from './dns/dns-udp.ts'
import type { Icmp } from './icmp/icmp.ts'

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
