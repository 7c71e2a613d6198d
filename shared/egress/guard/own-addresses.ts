import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { ConfigError } from '../../process/env.ts'

/** Whether a connection leads to a part of this installation that requests of tenants and visitors must not reach. */
type IsOwnAddress = (address: string, port: number, path: string | null) => boolean

/** Paths of the installation's own API that stay open: canary targets and heartbeat pings. */
const OPEN_PATHS = ['/canary/', '/ping/']

type OwnAddress = { address: string | null; isApi: boolean }

/**
 * Parses EGRESS_DENY: `address:port`, or `api=address:port` for the installation's own API, whose canary targets and ping
 * URLs stay open. A loopback or unspecified address means every address of this machine. Throws a ConfigError.
 */
export function parseOwnAddresses(texts: string[], addressesOfMachine = listMachineAddresses): IsOwnAddress | null {
  if (texts.length === 0) return null
  const byPort = new Map<number, OwnAddress[]>()
  for (const text of texts) {
    const [, api, bracketed, plain, port] = /^(api=)?(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
    const address = bracketed ?? plain ?? ''
    if (!ipaddr.isValid(address) || Number(port) > 65_535)
      throw new ConfigError(
        `EGRESS_DENY contains "${text}"; entries must be address:port, for example 127.0.0.1:4222 or [::1]:4222`,
      )
    const own = { address: isThisMachine(address) ? null : canonical(address), isApi: api !== undefined }
    byPort.set(Number(port), [...(byPort.get(Number(port)) ?? []), own])
  }
  return (address, port, path) => {
    const ownAddresses = byPort.get(port)
    if (ownAddresses === undefined) return false
    const isLocal = isThisMachine(address) || addressesOfMachine().has(canonical(address))
    return ownAddresses.some(own => {
      const isMatch = own.address === null ? isLocal : own.address === canonical(address)
      return isMatch && !(own.isApi && path !== null && OPEN_PATHS.some(open => path.startsWith(open)))
    })
  }
}

/** The byte offset of the IPv4 address in IPv6 addresses that a gateway translates. */
const IPV4_AT: Partial<Record<string, number>> = { rfc6052: 12, rfc6145: 12, '6to4': 2 }

/** Parses an address. An IPv4 address in IPv6 form becomes the IPv4 address. Null when the text is not an address. */
function parsePlainAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.process(text)
  const at = address.kind() === 'ipv6' ? IPV4_AT[address.range()] : undefined
  return at === undefined ? address : new ipaddr.IPv4(address.toByteArray().slice(at, at + 4))
}

/** The canonical spelling of an address. */
const canonical = (text: string) => parsePlainAddress(text)?.toString() ?? text

const isThisMachine = (text: string) => ['loopback', 'unspecified'].includes(parsePlainAddress(text)?.range() ?? '')

/** Called only for listed ports, and not cached, because the addresses of a machine change. */
const listMachineAddresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap(all => (all ?? []).map(({ address }) => canonical(address))))
