import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { ConfigError } from '../../process/env.ts'

/** Whether a connection leads to a part of this installation that no request of a tenant or a visitor may reach. */
export type IsOwnAddress = (address: string, port: number, path: string | null) => boolean

/** What everybody may ask of the installation's own API: targets that fail by plan, and heartbeats. */
const OPEN_PATHS = ['/canary/', '/ping/']

type OwnAddress = { address: string | null; isApi: boolean }

/**
 * Reads EGRESS_DENY: `address:port`, or `api=address:port` for the installation's own API, of which targets of canaries and
 * ping URLs stay open. A loopback or unspecified address means every address of this machine. Throws a ConfigError.
 */
export function parseOwnAddresses(texts: string[], addressesOfMachine = listMachineAddresses): IsOwnAddress | null {
  if (texts.length === 0) return null
  const byPort = new Map<number, OwnAddress[]>()
  for (const text of texts) {
    const [, api, bracketed, plain, port] = /^(api=)?(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
    const address = bracketed ?? plain ?? ''
    if (!ipaddr.isValid(address) || Number(port) > 65_535)
      throw new ConfigError(`EGRESS_DENY has "${text}"; write address:port, such as 127.0.0.1:4222 or [::1]:4222`)
    const place = { address: isThisMachine(address) ? null : canonical(address), isApi: api !== undefined }
    byPort.set(Number(port), [...(byPort.get(Number(port)) ?? []), place])
  }
  return (address, port, path) => {
    const places = byPort.get(port)
    if (places === undefined) return false
    const isHere = isThisMachine(address) || addressesOfMachine().has(canonical(address))
    return places.some(place => {
      const isMeant = place.address === null ? isHere : place.address === canonical(address)
      return isMeant && !(place.isApi && path !== null && OPEN_PATHS.some(open => path.startsWith(open)))
    })
  }
}

/** In which bytes IPv6 addresses hold an IPv4 address to which a gateway of their kind leads. */
const IPV4_AT: Partial<Record<string, number>> = { rfc6052: 12, rfc6145: 12, '6to4': 2 }

/** An IPv4 address in an IPv6 form is the IPv4 address. Null for what is not an address. */
function parsePlainAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.process(text)
  const at = address.kind() === 'ipv6' ? IPV4_AT[address.range()] : undefined
  return at === undefined ? address : new ipaddr.IPv4(address.toByteArray().slice(at, at + 4))
}

/** One spelling for each address. */
const canonical = (text: string) => parsePlainAddress(text)?.toString() ?? text

const isThisMachine = (text: string) => ['loopback', 'unspecified'].includes(parsePlainAddress(text)?.range() ?? '')

/** Asked only for a port that is on the list: a machine's addresses change. */
const listMachineAddresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap(all => (all ?? []).map(({ address }) => canonical(address))))
