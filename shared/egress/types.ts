import type { SecureContext } from 'node:tls'
import type { UdpServer } from './dns/dns-udp.ts'
import type { Icmp } from './icmp/icmp.ts'

/** The guard for every outgoing connection of both programs (docs/design/egress.md#rules). */
export type Egress = {
  /** The reason why a literal address is not allowed, or null. A name passes here and is checked on connection. */
  checkLiteral: (host: string) => string | null
  /**
   * Throws an EgressFailure (`blocked_target`) when a connection to this IP address, port and path is not allowed. `port`
   * null: the protocol has no ports. `path` null: not HTTP, or unknown.
   */
  assertAllowed: (address: string, port: number | null, path?: string | null) => void
  /**
   * The addresses of a name or literal. All of them are allowed: a name with one refused address is refused completely.
   * Throws an EgressFailure: `blocked_target`, `dns_not_found`, or the resolver's `dns_failed` or `dns_timeout`.
   */
  resolve: (host: string, port: number | null, path?: string | null) => Promise<string[]> | string[]
  /** The trusted authorities, loaded once: otherwise Node loads them for each connection. */
  secureContext: () => SecureContext
  /** how ICMP echoes are sent; opened on first use */
  icmp: Icmp
  /** the system's DNS servers; they are trusted and may be in any range */
  nameservers: () => UdpServer[]
}
