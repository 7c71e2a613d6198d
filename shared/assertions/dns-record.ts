import type { Assertion } from '../checks/check.ts'
import { DNS_TYPES, type DnsType, parseDnsType } from '../checks/dns-types.ts'
import type { OperatorName } from './operators.ts'
import type { AssertionInput, Expectation } from './types.ts'

/** A colon and a space after the type, so that an IPv6 address is none. */
const TYPED = new RegExp(`^\\s*(${DNS_TYPES.join('|')})\\s*:(?:\\s+([\\s\\S]*))?$`, 'i')
const LITERAL: readonly OperatorName[] = ['equals', 'not_equals', 'contains', 'not_contains']
/** In these, letters are the same in any case, and names are shown without the dot at their end. */
const CASELESS: readonly DnsType[] = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'SOA', 'SRV']

/**
 * `MX: 10 mail.example.com` looks at records of one type, a text without a type at all of them; `exists` and
 * `not_exists` take a type alone, or nothing. One record that fits is enough for an assertion, and for a negative one
 * no record may be what it names.
 */
export function parseDnsExpectation(value: string, takesValue: boolean, operator: OperatorName): Expectation | string {
  const [, word, rest = ''] = TYPED.exec(takesValue ? value : asTyped(value)) ?? []
  const type = word === undefined ? null : parseDnsType(word)
  if (!takesValue && value.trim() !== '' && (type === null || rest !== '')) {
    return `write one type of ${DNS_TYPES.join(', ')}, or leave it empty`
  }
  const text = type === null ? value : rest.trim()
  if (takesValue && text === '')
    return 'write it as "MX: 10 mail.example.com", or a text that is looked for in any record'
  const isName = type !== null && CASELESS.includes(type) && LITERAL.includes(operator)
  const expected = isName ? text.toLowerCase().replace(/(?<=[^.])\.$/, '') : text
  return { read: seen => listValues(seen, type), expected }
}

/** A type alone, with a colon or without. */
const asTyped = (value: string) => `${value.trim().replace(/:$/, '')}:`

function listValues({ observation }: AssertionInput, type: DnsType | null): string[] {
  const records = observation.dns?.records ?? []
  return records.filter(record => type === null || record.type === type).map(({ value }) => value)
}

/** The types that assertions name: a check asks for them. */
export function listDnsTypes(assertions: readonly Assertion[]): DnsType[] {
  return assertions.flatMap(({ type, operator, value }) => {
    if (type !== 'dns_record') return []
    const isTypeAlone = operator === 'exists' || operator === 'not_exists'
    const named = parseDnsType(TYPED.exec(isTypeAlone ? asTyped(value) : value)?.[1] ?? '')
    return named === null ? [] : [named]
  })
}
