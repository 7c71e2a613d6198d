import ipaddr from 'ipaddr.js'

/** The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address. PostgreSQL accepts it as `inet`. */
export function toClientNetwork(ip: string): string {
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const parts = (address as ipaddr.IPv6).parts.map((part, i) => (i < 4 ? part : 0))
  return `${new ipaddr.IPv6(parts).toString()}/64`
}

/** The address of a gRPC peer, `address:port`; an IPv6 address may have brackets. */
export const parsePeerAddress = (peer: string): string => peer.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')

/** The network of a socket's remote address. A closed socket has no address, and an unknown one is its own network. */
export const toSocketNetwork = (remoteAddress = ''): string =>
  ipaddr.isValid(remoteAddress) ? toClientNetwork(remoteAddress) : remoteAddress
