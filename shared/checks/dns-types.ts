/** DNS record types that dns monitors can query and `dns_record` assertions can name. */
export const DNS_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SOA', 'SRV', 'CAA'] as const
export type DnsType = (typeof DNS_TYPES)[number]

/** Parses a record type in any case; null if it is unknown. */
export function parseDnsType(text: string): DnsType | null {
  const type = text.trim().toUpperCase()
  return DNS_TYPES.find(one => one === type) ?? null
}
