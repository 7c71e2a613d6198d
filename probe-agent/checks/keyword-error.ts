import type { Assertion, CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource, type Observation } from '../../shared/checks/result.ts'
import { evaluateAssertions } from '../execution/evaluate-assertions.ts'

const assertionsBySpec = new WeakMap<CheckSpec, Assertion[]>()

/**
 * Searches the body, decoded by the charset of its content type, for the monitor's keyword. Returns the error when the
 * keyword is missing, or found with `not_contains`; otherwise null.
 */
export async function findKeywordError(
  spec: CheckSpec,
  observation: Observation,
  nowMs: number,
): Promise<CheckError | null> {
  const { verdict } = await evaluateAssertions(getAssertions(spec), observation, nowMs)
  if (verdict === 'passed') return null
  return spec.keywordType === 'not_contains'
    ? { source: FailureSource.TARGET, code: 'keyword_found', message: 'the response contains the keyword' }
    : { source: FailureSource.TARGET, code: 'keyword_missing', message: 'the response does not contain the keyword' }
}

const OPERATOR_OF: Record<string, string> = { contains: 'contains', not_contains: 'not_contains', regex: 'matches' }

/** Expresses the keyword as an assertion on the body. */
function getAssertions(spec: CheckSpec): Assertion[] {
  const known = assertionsBySpec.get(spec)
  if (known) return known
  const { keyword, keywordType } = spec
  // The control plane does not assign a keyword monitor without a keyword.
  if (keyword === undefined) throw new Error('a keyword monitor without a keyword')
  const assertions = [{ type: 'body', operator: OPERATOR_OF[keywordType] ?? keywordType, value: keyword }]
  assertionsBySpec.set(spec, assertions)
  return assertions
}
