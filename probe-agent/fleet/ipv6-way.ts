import { networkInterfaces } from 'node:os'

/** Whether this machine has an address from which others can be reached over IPv6. */
export function hasIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap(found => found ?? [])
  return addresses.some(({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe80:/i.test(address))
}
