import { networkInterfaces } from 'node:os'

/** Whether this machine has an IPv6 address that is neither internal nor link-local. */
export function hasIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap(found => found ?? [])
  return addresses.some(({ family, internal, address }) => family === 'IPv6' && !internal && !/^fe80:/i.test(address))
}
