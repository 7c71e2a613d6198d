import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { ConfigError } from '../../process/env.ts'

/**
 * Whether a connection leads to a part of this installation that requests of tenants and visitors must not reach. A ping has
 * no port.
 */
type IsOwnAddress = (address: string, port: number | null, path: string | null) => boolean

/** Paths of the installation's own API that stay open: canary targets and heartbeat pings. */
const OPEN_PATHS = ['/canary/', '/ping/']

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** `range`: null means this machine. `port`: null means every port, and pings. */
type OwnAddress = { range: [Address, number] | null; port: number | null; isApi: boolean }

/**
 * Parses EGRESS_DENY: addresses or ranges (CIDR), each with or without a port; with `api=` for the installation's own API,
 * whose canary targets and ping URLs stay open. A loopback or unspecified address means every address of this machine.
 * Throws a ConfigError.
 */
export function parseOwnAddresses(texts: string[], addressesOfMachine = listMachineAddresses): IsOwnAddress | null {
  if (texts.length === 0) return null
  const all = texts.map(parseOwnAddress)
  const ofEveryPort = all.filter(own => own.port === null)
  const byPort = new Map<number | null, OwnAddress[]>([[null, ofEveryPort]])
  for (const { port } of all) {
    if (port !== null) byPort.set(port, [...ofEveryPort, ...all.filter(own => own.port === port)])
  }
  return (address, port, path) => {
    const ownAddresses = byPort.get(port) ?? ofEveryPort
    if (ownAddresses.length === 0) return false
    const forms = [parsePlainAddress(address), ipaddr.isValid(address) ? ipaddr.parse(address) : null]
    const isMatch = ({ range }: OwnAddress) =>
      range === null
        ? isThisMachine(address) || addressesOfMachine().has(canonical(address))
        : forms.some(form => form?.kind() === range[0].kind() && form.match(range))
    const isOpen = path !== null && OPEN_PATHS.some(open => path.startsWith(open))
    return ownAddresses.some(own => !(own.isApi && isOpen) && isMatch(own))
  }
}

const ENTRY = /^(api=)?(?:\[([^\]/]+)(?:\/(\d{1,3}))?\]|([\d.]+)(?:\/(\d{1,2}))?)(?::(\d{1,5}))?$/

function parseOwnAddress(text: string): OwnAddress {
  const [, api, ipv6, ipv6Bits, ipv4, ipv4Bits, portText] = ENTRY.exec(text) ?? []
  const address = ipv6 ?? ipv4 ?? ''
  const bits = ipv6Bits ?? ipv4Bits
  const port = portText === undefined ? null : Number(portText)
  const isAddress = ipv6 === undefined ? ipaddr.IPv4.isValidFourPartDecimal(address) : ipaddr.IPv6.isValid(ipv6)
  // a range of IPv4 addresses in IPv6 form would not match their IPv4 form
  const isMixed = isAddress && ipv6Bits !== undefined && parsePlainAddress(address)?.kind() === 'ipv4'
  if (!isAddress || isMixed || (port ?? 0) > 65_535 || Number(bits ?? 0) > (ipv6 === undefined ? 32 : 128))
    throw new ConfigError(
      `EGRESS_DENY contains "${text}"; entries must be an address or a range (CIDR), with or without a port, and IPv6 in brackets: 10.0.0.5, 10.0.0.5:4222, 10.0.0.0/8, 10.0.0.0/8:4222, [::1]:4222 or [fd00::/8]`,
    )
  const isApi = api !== undefined
  if (bits !== undefined) return { range: [ipaddr.parse(address), Number(bits)], port, isApi }
  const parsed = parsePlainAddress(address)!
  return { range: isThisMachine(address) ? null : [parsed, parsed.kind() === 'ipv4' ? 32 : 128], port, isApi }
}

/** The byte offset of the IPv4 address in IPv6 addresses that a gateway translates. */
const IPV4_AT: Partial<Record<string, number>> = { rfc6052: 12, rfc6145: 12, '6to4': 2 }

/** Parses an address. An IPv4 address in IPv6 form becomes the IPv4 address. Null when the text is not an address. */
function parsePlainAddress(text: string): Address | null {
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
