import type { CheckFunction } from '../../shared/checks/check.ts'
import { wallMs } from '../../shared/egress/monotonic.ts'
import { fetchObservation } from './http.ts'
import { findKeywordError } from './keyword-error.ts'

/** The `http` check, followed by a search for the keyword in the first MiB of the body. */
export const checkKeyword: CheckFunction = async (spec, signal, egress, tenant) => {
  // The control plane does not assign a keyword monitor without a keyword.
  if (spec.keyword === undefined) throw new Error('a keyword monitor without a keyword')
  const answer = await fetchObservation(spec, signal, egress, true)
  answer.error ??= await findKeywordError({ spec, observation: answer, nowMs: wallMs(), tenant })
  return answer
}
