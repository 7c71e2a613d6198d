import { bodyText } from '../../shared/body-text.ts'
import type { Check, CheckSpec } from '../../shared/check.ts'
import { compileRegex } from '../../shared/regex.ts'
import { FailureSource } from '../../shared/result.ts'
import { fetchAnswer } from './http.ts'

type Found = (text: string) => boolean

const finders = new WeakMap<CheckSpec, Found>()

/** The check of `http`, and then the keyword in the first MiB of the body. */
export const checkKeyword: Check = async (spec, signal, egress) => {
  const isFound = finderOf(spec)
  const answer = await fetchAnswer(spec, signal, egress, true)
  if (answer.error !== null) return answer
  const found = isFound(bodyText(answer))
  const mustBeThere = spec.keywordType !== 'not_contains'
  if (found === mustBeThere) return answer
  answer.error = mustBeThere
    ? { source: FailureSource.TARGET, code: 'keyword_missing', message: 'the keyword is not in the answer' }
    : { source: FailureSource.TARGET, code: 'keyword_found', message: 'the keyword is in the answer' }
  return answer
}

function finderOf(spec: CheckSpec): Found {
  const known = finders.get(spec)
  if (known) return known
  const { keyword } = spec
  // The control plane does not hand out a monitor that lacks its keyword.
  if (keyword === undefined) throw new Error('a keyword monitor without a keyword')
  const finder: Found = spec.keywordType === 'regex' ? compileRegex(keyword).test : text => text.includes(keyword)
  finders.set(spec, finder)
  return finder
}
