import type { Check } from '../../shared/check.ts'
import { wallMs } from '../../shared/egress/monotonic.ts'
import { keywordError } from '../keyword-error.ts'
import { fetchAnswer } from './http.ts'

/** The check of `http`, and then the keyword in the first MiB of the body. */
export const checkKeyword: Check = async (spec, signal, egress) => {
  // The control plane does not hand out a monitor that lacks its keyword.
  if (spec.keyword === undefined) throw new Error('a keyword monitor without a keyword')
  const answer = await fetchAnswer(spec, signal, egress, true)
  answer.error ??= await keywordError(spec, answer, wallMs())
  return answer
}
