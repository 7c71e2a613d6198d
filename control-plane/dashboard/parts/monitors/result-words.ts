import type { OperationResponse } from '../../core/operations.ts'

type TestedCheck = OperationResponse<'testMonitor'>['data']['results'][number]
type ResultOutcome = Pick<TestedCheck, 'error' | 'failed_assertions' | 'status_code'>

/** `200`, or what failed, in the words of the probe. */
export function formatOutcome({ error, failed_assertions: failed, status_code: code }: ResultOutcome): string {
  if (error) return error.message
  if (failed.length === 0) return code === null ? 'ok' : String(code)
  return failed
    .map(
      ({ type, operator, value, actual }) => `${type} ${operator.replaceAll('_', ' ')} ${value}, but it is ${actual}`,
    )
    .join('; ')
}
