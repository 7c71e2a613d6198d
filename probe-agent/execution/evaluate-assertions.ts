import type { AssertionEvaluation } from '../../shared/assertions/evaluate.ts'
import type { Assertion, CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource, type Observation } from '../../shared/checks/result.ts'
import { nowUs } from '../../shared/egress/monotonic.ts'
import { machine } from '../clock.ts'
import { createAssertionEvaluator } from './assertion-worker.ts'

/** Evaluates the assertions of all checks of this process, see createAssertionEvaluator. */
export const evaluateAssertions = createAssertionEvaluator(machine.after)

/** What an evaluation needs besides the assertions. `nowMs`: since 1970. */
export type EvaluationSubject = { spec: CheckSpec; observation: Observation; nowMs: number; tenant: number }

/**
 * Evaluates assertions within the deadline of the check. Their time is the probe's, so exceeding it is an internal failure,
 * which is returned instead of an evaluation.
 */
export async function evaluateInTime(
  assertions: Assertion[],
  { spec, observation, nowMs, tenant }: EvaluationSubject,
): Promise<AssertionEvaluation | CheckError> {
  const startedUs = nowUs()
  const evaluation = await evaluateAssertions(assertions, observation, nowMs, tenant)
  const deadlineUs = spec.timeoutMs * 1000
  const { totalUs } = observation
  const isLate = totalUs <= deadlineUs && totalUs + nowUs() - startedUs > deadlineUs
  return isLate ? lateError : evaluation
}

const lateError: CheckError = {
  source: FailureSource.INTERNAL,
  code: 'timeout',
  message: 'the deadline passed while the probe evaluated the assertions',
}
