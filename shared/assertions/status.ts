import type { OperatorName } from './names.ts'
import { OPERATORS, type OperatorTest } from './operators.ts'

/** The reason why the value is invalid, or null. `equals` and `not_equals` also accept `2xx` and `200-299`. */
export function findStatusProblem(operator: OperatorName, expected: string): string | null {
  if (operator !== 'equals' && operator !== 'not_equals') return OPERATORS[operator].problem(expected)
  const isRange = parseRange(expected.trim()) !== null
  return isRange ? null : `"${expected}" is not a status code; use a form like 200, 2xx or 200-299`
}

/** The test for a value that passes findStatusProblem. */
export function buildStatusTest(operator: OperatorName, expected: string): OperatorTest {
  if (operator !== 'equals' && operator !== 'not_equals') return OPERATORS[operator].make(expected)
  const [first, last] = parseRange(expected.trim()) ?? [0, 0]
  const isWithin: OperatorTest = actual => actual !== null && Number(actual) >= first && Number(actual) <= last
  return operator === 'equals' ? isWithin : actual => !isWithin(actual)
}

function parseRange(text: string): [number, number] | null {
  if (/^[1-5]xx$/i.test(text)) return [Number(text[0]) * 100, Number(text[0]) * 100 + 99]
  const [, first, last = first] = /^([1-9]\d\d)(?:\s*-\s*([1-9]\d\d))?$/.exec(text) ?? []
  return first !== undefined && Number(first) <= Number(last) ? [Number(first), Number(last)] : null
}
