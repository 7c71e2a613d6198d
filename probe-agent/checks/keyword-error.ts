import type { Assertion, CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource, type Observation } from '../../shared/checks/result.ts'
import { evaluateAssertions } from '../execution/assertion-worker.ts'

const sought = new WeakMap<CheckSpec, Assertion[]>()

/**
 * Looks for the monitor's keyword in the body, in the charset of its content type. The error of a keyword that is
 * missing, or that is there and must not be; null when all is well.
 */
export async function findKeywordError(
  spec: CheckSpec,
  observation: Observation,
  nowMs: number,
): Promise<CheckError | null> {
  const { verdict } = await evaluateAssertions(assertionsOf(spec), observation, nowMs)
  if (verdict === 'passed') return null
  return spec.keywordType === 'not_contains'
    ? { source: FailureSource.TARGET, code: 'keyword_found', message: 'the keyword is in the answer' }
    : { source: FailureSource.TARGET, code: 'keyword_missing', message: 'the keyword is not in the answer' }
}

const OPERATOR_OF: Record<string, string> = { contains: 'contains', not_contains: 'not_contains', regex: 'matches' }

/** A keyword is an assertion on the body. */
function assertionsOf(spec: CheckSpec): Assertion[] {
  const before = sought.get(spec)
  if (before) return before
  const { keyword, keywordType } = spec
  // The control plane does not hand out a keyword monitor that lacks its keyword.
  if (keyword === undefined) throw new Error('a keyword monitor without a keyword')
  const assertions = [{ type: 'body', operator: OPERATOR_OF[keywordType] ?? keywordType, value: keyword }]
  sought.set(spec, assertions)
  return assertions
}
