import type { DnsAnswer } from '../../shared/checks/result.ts'

/** Limits for stored results. Assertions are evaluated before, on the complete answer. */
const MAX_RECORDS = 50
const MAX_VALUE_LENGTH = 500

/** The part of a DNS answer that is stored with the result. */
export function truncateDnsAnswer(dns: DnsAnswer): DnsAnswer {
  const records = dns.records.slice(0, MAX_RECORDS)
  return { ...dns, records: records.map(record => ({ ...record, value: record.value.slice(0, MAX_VALUE_LENGTH) })) }
}
