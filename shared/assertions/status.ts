import { OPERATORS, type OperatorName } from './operators.ts'

type Test = (actual: string | null) => boolean

/** `equals` and `not_equals` of a status code also take `2xx` and `200-299`. A text is the reason why it does not fit. */
export function statusTest(operator: OperatorName, expected: string): Test | string {
  if (operator !== 'equals' && operator !== 'not_equals') {
    return OPERATORS[operator].problem(expected) ?? OPERATORS[operator].make(expected)
  }
  const range = rangeOf(expected.trim())
  if (!range) return `"${expected}" is not a status code; write it like 200, 2xx or 200-299`
  const [first, last] = range
  const isWithin: Test = actual => actual !== null && Number(actual) >= first && Number(actual) <= last
  return operator === 'equals' ? isWithin : actual => !isWithin(actual)
}

function rangeOf(text: string): [number, number] | null {
  if (/^[1-5]xx$/i.test(text)) return [Number(text[0]) * 100, Number(text[0]) * 100 + 99]
  const [, first, last = first] = /^([1-9]\d\d)(?:\s*-\s*([1-9]\d\d))?$/.exec(text) ?? []
  return first !== undefined && Number(first) <= Number(last) ? [Number(first), Number(last)] : null
}
