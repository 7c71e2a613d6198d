import type { DnsAnswer } from '../../shared/checks/result.ts'

/** A result travels and is kept for long; assertions have seen everything before. */
const MAX_RECORDS = 50
const MAX_VALUE_LENGTH = 500

/** What of a DNS answer goes into a result. */
export function truncateDnsAnswer(dns: DnsAnswer): DnsAnswer {
  const records = dns.records.slice(0, MAX_RECORDS)
  return { ...dns, records: records.map(record => ({ ...record, value: record.value.slice(0, MAX_VALUE_LENGTH) })) }
}
