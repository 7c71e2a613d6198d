import ipaddr from 'ipaddr.js'
import { parseClientAddress } from './client-address.ts'

/** The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address. PostgreSQL accepts it as `inet`. */
export function toClientNetwork(ip: string): string {
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const parts = (address as ipaddr.IPv6).parts.map((part, i) => (i < 4 ? part : 0))
  return `${new ipaddr.IPv6(parts).toString()}/64`
}

/**
 * The network that a request counts against. If the address from a proxy is not valid, the proxy's own network is used. A
 * closed connection has no address.
 */
export const getClientNetwork = ({ ip, socket }: { ip?: string; socket: { remoteAddress?: string } }): string =>
  toClientNetwork(parseClientAddress(ip ?? '') ?? parseClientAddress(socket.remoteAddress ?? '') ?? '0.0.0.0')
