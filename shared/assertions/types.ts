import type { Observation } from '../checks/result.ts'
import type { OperatorName } from './names.ts'

/** The input of assertions, decoded once for all assertions of a check. */
export type AssertionInput = {
  observation: Observation
  /** ms since 1970 */
  nowMs: number
  /** the body as text */
  text: () => string
  /** the parsed body; undefined when it is not JSON */
  json: () => { value: unknown } | undefined
}

/** A text, null when it is missing, several texts, or the reason why it cannot be read. */
export type AssertionValue = string | null | string[] | { unreadable: string }

/** Where to read (a header name, a path) and the expected value, both parsed from the assertion's value. */
export type Expectation = { read: (seen: AssertionInput) => AssertionValue; expected: string }

export type AssertionReader = {
  operators: readonly OperatorName[]
  /** a failure makes the check degraded instead of failed */
  degrades: boolean
  needsBody: boolean
  /** parses the assertion's value; a text is the reason why it is invalid */
  parseExpectation: (value: string, takesValue: boolean, operator: OperatorName) => Expectation | string
}
