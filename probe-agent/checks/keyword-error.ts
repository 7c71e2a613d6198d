import type { Assertion, CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource } from '../../shared/checks/result.ts'
import { type EvaluationSubject, evaluateInTime } from '../execution/evaluate-assertions.ts'

const assertionsBySpec = new WeakMap<CheckSpec, Assertion[]>()

/**
 * Searches the body, decoded by the charset of its content type, for the monitor's keyword. Returns the error when the
 * keyword is missing, or found with `not_contains`, or the search took too long; otherwise null.
 */
export async function findKeywordError(subject: EvaluationSubject): Promise<CheckError | null> {
  const { spec } = subject
  const evaluation = await evaluateInTime(getAssertions(spec), subject)
  if ('code' in evaluation) return evaluation
  if (evaluation.verdict === 'passed') return null
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
