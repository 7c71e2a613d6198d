import type { Observation } from '../checks/result.ts'
import type { OperatorName } from './operators.ts'

/** What an assertion looks at, read once for all assertions of a check. */
export type AssertionInput = {
  observation: Observation
  /** ms since 1970 */
  nowMs: number
  /** the body as text */
  text: () => string
  /** the body parsed; undefined when it is not JSON */
  json: () => { value: unknown } | undefined
}
/** A text, null when it is not there, the texts of which each may be meant, or the reason why it cannot be told. */
export type AssertionValue = string | null | string[] | { unreadable: string }
/** Where to look (a header's name, a path) and what to expect there, both from the assertion's value. */
export type Expectation = { read: (seen: AssertionInput) => AssertionValue; expected: string }

export type AssertionReader = {
  operators: readonly OperatorName[]
  /** a failure makes the check degraded instead of failed */
  degrades: boolean
  needsBody: boolean
  /** splits the assertion's value; a text is the reason why it cannot be */
  parseExpectation: (value: string, takesValue: boolean, operator: OperatorName) => Expectation | string
}
