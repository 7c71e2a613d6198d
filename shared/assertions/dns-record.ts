import type { Assertion } from '../checks/check.ts'
import { DNS_TYPES, type DnsType, parseDnsType } from '../checks/dns-types.ts'
import { formatIpv6 } from '../checks/ipv6-text.ts'
import type { OperatorName } from './names.ts'
import type { AssertionInput, Expectation } from './types.ts'

/** The type is followed by a colon and a space, so that an IPv6 address is not taken for one. */
const TYPED = new RegExp(`^\\s*(${DNS_TYPES.join('|')})\\s*:(?:\\s+([\\s\\S]*))?$`, 'i')
const LITERAL: readonly OperatorName[] = ['equals', 'not_equals', 'contains', 'not_contains']
/** Types whose values are compared without case, and whose names have no final dot. */
const CASE_INSENSITIVE: readonly DnsType[] = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'SOA', 'SRV']

/**
 * Parses the value of a `dns_record` assertion. `MX: 10 mail.example.com` applies to records of one type, a text without a
 * type to all records. `exists` and `not_exists` accept a type alone, or nothing. A positive assertion needs one matching
 * record; a negative one needs that no record matches. `equals` and `not_equals` accept any notation of an IPv6 address.
 */
export function parseDnsExpectation(value: string, takesValue: boolean, operator: OperatorName): Expectation | string {
  const [, word, rest = ''] = TYPED.exec(takesValue ? value : asTyped(value)) ?? []
  const type = word === undefined ? null : parseDnsType(word)
  if (!takesValue && value.trim() !== '' && (type === null || rest !== '')) {
    return `must be empty or one of ${DNS_TYPES.join(', ')}`
  }
  const text = type === null ? value : rest.trim()
  if (takesValue && text === '')
    return 'must be like "MX: 10 mail.example.com", or a text that is compared with every record'
  const isName = type !== null && CASE_INSENSITIVE.includes(type) && LITERAL.includes(operator)
  const expected = isName ? text.toLowerCase().replace(/(?<=[^.])\.$/, '') : text
  if (operator !== 'equals' && operator !== 'not_equals') return { read: input => listValues(input, type), expected }
  // A record of another type, such as TXT, can contain an address in any notation too.
  return { read: input => listValues(input, type).map(formatIpv6), expected: formatIpv6(expected) }
}

/** A type alone, with or without a colon. */
const asTyped = (value: string) => `${value.trim().replace(/:$/, '')}:`

function listValues({ observation }: AssertionInput, type: DnsType | null): string[] {
  const records = observation.dns?.records ?? []
  return records.filter(record => type === null || record.type === type).map(({ value }) => value)
}

/** The record types that assertions name; the check queries them. */
export function listDnsTypes(assertions: readonly Assertion[]): DnsType[] {
  return assertions.flatMap(({ type, operator, value }) => {
    if (type !== 'dns_record') return []
    const isTypeAlone = operator === 'exists' || operator === 'not_exists'
    const named = parseDnsType(TYPED.exec(isTypeAlone ? asTyped(value) : value)?.[1] ?? '')
    return named === null ? [] : [named]
  })
}
