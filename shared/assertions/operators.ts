import { compileRegex, findRegexProblem } from './regex.ts'

/** Tests what was seen; null: "not there". `regexSize`: instructions of its regular expression. */
export type OperatorTest = ((actual: string | null) => boolean) & { regexSize?: number }

type Operator = {
  /** the test for the value that an assertion expects */
  make: (expected: string) => OperatorTest
  /** why the expected value does not fit, or null */
  problem: (expected: string) => string | null
  /** `exists` and `not_exists` compare with nothing */
  takesValue: boolean
}

const anyValue = () => null
const number = (value: string) => (isNumber(value) ? null : `"${value}" is not a number`)

/**
 * Operators of assertions (decisions 3.5). What is not there satisfies the negative ones only. `less_than` and
 * `greater_than` are strict: a value equal to the threshold is neither.
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
} as const satisfies Record<string, Operator>

export type OperatorName = keyof typeof OPERATORS

export const OPERATOR_NAMES = Object.keys(OPERATORS) as OperatorName[]

export function isNumber(text: string): boolean {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i.test(text)
}

/** Equal as texts, or as numbers where both are: "1.0" is "1", and "10" is never before "9". */
function same(actual: string, expected: string): boolean {
  if (actual === expected) return true
  return isNumber(actual) && isNumber(expected) && Number(actual) === Number(expected)
}

function compare(expected: string, holds: (actual: number, threshold: number) => boolean) {
  const threshold = Number(expected)
  return (actual: string | null) => actual !== null && isNumber(actual) && holds(Number(actual), threshold)
}

function matcher(pattern: string): OperatorTest {
  const regex = compileRegex(pattern)
  return Object.assign((actual: string | null) => actual !== null && regex.test(actual), { regexSize: regex.size })
}

const not = (test: OperatorTest): OperatorTest =>
  Object.assign((actual: string | null) => !test(actual), { regexSize: test.regexSize ?? 0 })
