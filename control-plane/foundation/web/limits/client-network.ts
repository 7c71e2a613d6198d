import { toClientNetwork } from '../../platform/network/client-network.ts'
import { parseClientAddress } from './client-address.ts'

/**
 * The network that a request counts against. If the address from a proxy is not valid, the proxy's own network is used. A
 * closed connection has no address.
 */
export const getClientNetwork = ({ ip, socket }: { ip?: string; socket: { remoteAddress?: string } }): string =>
  toClientNetwork(parseClientAddress(ip ?? '') ?? parseClientAddress(socket.remoteAddress ?? '') ?? '0.0.0.0')
