import type { DnsAnswer } from '../shared/result.ts'

/** A result travels and is kept for long; assertions have seen everything before. */
const RECORDS_KEPT = 50
const VALUE_KEPT = 500

/** What of a DNS answer goes into a result. */
export function keptDns(dns: DnsAnswer): DnsAnswer {
  const records = dns.records.slice(0, RECORDS_KEPT)
  return { ...dns, records: records.map(record => ({ ...record, value: record.value.slice(0, VALUE_KEPT) })) }
}
