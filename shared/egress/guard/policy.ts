import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ConfigError } from '../../process/env.ts'

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses CIDRs that are allowed in addition. A single address is a range of one. */
export function parseAllowedRanges(texts: string[]): Cidr[] {
  return texts.map(text => {
    try {
      if (isIP(text)) return [ipaddr.parse(text), isIPv4(text) ? 32 : 128]
      return ipaddr.parseCIDR(text)
    } catch {
      throw new ConfigError(`"${text}" is not a CIDR range; use a form like 10.0.0.0/8 or fd00::/8`)
    }
  })
}

/** Public addresses of cloud metadata services. */
const METADATA = new Set(['168.63.129.16'])

const V4_KINDS: Record<string, string> = {
  unspecified: 'an unspecified address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'an address behind carrier-grade NAT',
  private: 'a private address',
}

const V6_KINDS: Record<string, string> = {
  ...V4_KINDS,
  uniqueLocal: 'a private address',
  ipv4Mapped: 'an IPv4 address in IPv6 form',
  rfc6145: 'an IPv4 address in IPv6 form',
  rfc6052: 'an IPv4 address behind NAT64',
  '6to4': 'an IPv4 address behind 6to4',
  teredo: 'an IPv4 address behind Teredo',
}

const GLOBAL_UNICAST: Cidr = [ipaddr.parse('2000::'), 3]

/**
 * The reason why an address is refused, or null when it is allowed (docs/design/egress.md#addresses). `address`: an IP
 * address without brackets. An IPv4 range in `allow` also covers the IPv4-mapped form.
 */
export function findBlockReason(address: string, allow: Cidr[]): string | null {
  if (!isIP(address) || address.includes('%')) return 'not a plain IP address'
  const parsed = ipaddr.parse(address)
  if (allow.some(cidr => covers(cidr, parsed))) return null
  if (METADATA.has(address)) return 'a metadata address'
  const range = parsed.range()
  if (parsed instanceof ipaddr.IPv4) return range === 'unicast' ? null : (V4_KINDS[range] ?? 'a reserved address')
  if (range === 'unicast' && parsed.match(GLOBAL_UNICAST as [ipaddr.IPv6, number])) return null
  return V6_KINDS[range] ?? 'a reserved address'
}

const NAT64: Cidr = [ipaddr.parse('64:ff9b::'), 96]

/** The IPv4 address in an address of the well-known NAT64 prefix (RFC 6052); another address unchanged. */
export function unwrapNat64(address: string): string {
  if (!isIP(address) || address.includes('%')) return address
  const parsed = ipaddr.parse(address)
  if (!(parsed instanceof ipaddr.IPv6) || !parsed.match(NAT64 as [ipaddr.IPv6, number])) return address
  return parsed.toByteArray().slice(12).join('.')
}

function covers([base, bits]: Cidr, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (base instanceof ipaddr.IPv4) {
    if (address instanceof ipaddr.IPv4) return address.match(base, bits)
    return address.isIPv4MappedAddress() && address.toIPv4Address().match(base, bits)
  }
  return address instanceof ipaddr.IPv6 && address.match(base, bits)
}
