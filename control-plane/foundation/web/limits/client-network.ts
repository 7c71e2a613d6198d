import ipaddr from 'ipaddr.js'
import { parseClientAddress } from './client-address.ts'

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address. A text that PostgreSQL takes as `inet`. */
export function toClientNetwork(ip: string): string {
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const parts = (address as ipaddr.IPv6).parts.map((part, i) => (i < 4 ? part : 0))
  return `${new ipaddr.IPv6(parts).toString()}/64`
}

/**
 * The network that a request counts against. What a proxy wrote may be anything; then it is the proxy's own. A connection
 * that has ended has no address any more.
 */
export const getClientNetwork = ({ ip, socket }: { ip?: string; socket: { remoteAddress?: string } }): string =>
  toClientNetwork(parseClientAddress(ip ?? '') ?? parseClientAddress(socket.remoteAddress ?? '') ?? '0.0.0.0')
