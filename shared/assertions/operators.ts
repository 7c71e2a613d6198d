import type { OperatorName } from './names.ts'
import { createRegex, findRegexProblem } from './regex.ts'

/** Tests an actual value; null: missing. */
export type OperatorTest = ((actual: string | null) => boolean) & { regex?: ReturnType<typeof createRegex> }

type Operator = {
  /** creates the test for an expected value */
  make: (expected: string) => OperatorTest
  /** the reason why the expected value is invalid, or null */
  problem: (expected: string) => string | null
  /** false for `exists` and `not_exists` */
  takesValue: boolean
}

const anyValue = () => null
const number = (value: string) => (isNumber(value) ? null : `"${value}" is not a number`)

/**
 * The operators of assertions (docs/design/checks.md#assertions). A missing value satisfies only negative operators.
 * `less_than` and `greater_than` are strict.
 */
export const OPERATORS = {
  equals: {
    make: expected => actual => actual !== null && same(actual, expected),
    problem: anyValue,
    takesValue: true,
  },
  not_equals: {
    make: expected => actual => actual === null || !same(actual, expected),
    problem: anyValue,
    takesValue: true,
  },
  contains: { make: expected => actual => actual?.includes(expected) ?? false, problem: anyValue, takesValue: true },
  not_contains: {
    make: expected => actual => !(actual?.includes(expected) ?? false),
    problem: anyValue,
    takesValue: true,
  },
  less_than: { make: expected => compare(expected, (a, b) => a < b), problem: number, takesValue: true },
  greater_than: { make: expected => compare(expected, (a, b) => a > b), problem: number, takesValue: true },
  matches: { make: expected => matcher(expected), problem: findRegexProblem, takesValue: true },
  not_matches: { make: expected => not(matcher(expected)), problem: findRegexProblem, takesValue: true },
  exists: { make: () => actual => actual !== null, problem: anyValue, takesValue: false },
  not_exists: { make: () => actual => actual === null, problem: anyValue, takesValue: false },
} as const satisfies Record<OperatorName, Operator>

export function isNumber(text: string): boolean {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i.test(text)
}

/** Equal as texts, or as numbers if both are numbers: "1.0" equals "1". */
function same(actual: string, expected: string): boolean {
  if (actual === expected) return true
  return isNumber(actual) && isNumber(expected) && Number(actual) === Number(expected)
}

function compare(expected: string, holds: (actual: number, threshold: number) => boolean) {
  const threshold = Number(expected)
  return (actual: string | null) => actual !== null && isNumber(actual) && holds(Number(actual), threshold)
}

function matcher(pattern: string): OperatorTest {
  const regex = createRegex(pattern)
  const test = (actual: string | null) => {
    // an invalid expression is reported also when the value is missing
    regex.compile()
    return actual !== null && regex.test(actual)
  }
  return Object.assign(test, { regex })
}

const not = (test: OperatorTest): OperatorTest =>
  Object.assign((actual: string | null) => !test(actual), { regex: test.regex! })
