/** Types of DNS records that a dns monitor asks for and that `dns_record` assertions name. */
export const DNS_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SOA', 'SRV', 'CAA'] as const
export type DnsType = (typeof DNS_TYPES)[number]

/** The type that a text names, in any case; null when it is none of them. */
export function parseDnsType(text: string): DnsType | null {
  const type = text.trim().toUpperCase()
  return DNS_TYPES.find(one => one === type) ?? null
}
