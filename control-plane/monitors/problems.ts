import { isDeepStrictEqual } from 'node:util'
import { validateAssertion } from '../../shared/assertions/evaluate.ts'
import { regexProblem } from '../../shared/regex.ts'
import { parseTarget } from '../../shared/target.ts'
import type { CheckLiteral } from '../channels/types.ts'
import type { Pause } from '../platform/clock.ts'
import type { Detail } from '../web/errors.ts'
import { headerProblems, unmaskHeaders } from '../web/header-map.ts'
import { authProblems, unmaskAuth } from './credentials.ts'
import type { MonitorFields } from './fields.ts'

/**
 * Everything wrong with a monitor that its schema cannot say: what depends on several fields, on RE2 or on the egress
 * guard (decisions 3.2, 3.5 and 11.3). What is merely missing is no problem, see configuration.ts. It pauses after each
 * regular expression: compiling 50 of them can take 100 ms. A keyword and assertions that are stored already (`before`) are
 * not judged again: a limit that came later must not stop other changes.
 */
export async function monitorProblems(
  fields: MonitorFields,
  checkLiteral: CheckLiteral,
  pause: Pause,
  before: MonitorFields | null = null,
): Promise<Detail[]> {
  return [
    ...urlProblems(fields, checkLiteral),
    ...headerProblems(fields.headers ?? {}, 'headers'),
    ...keywordProblems(fields, before),
    ...(await assertionProblems(fields, before, pause)),
    ...authProblems(fields),
  ]
}

/** The same for a monitor that is not stored yet: a mask stands for nothing then. */
export async function problemsOfNew(
  fields: MonitorFields,
  checkLiteral: CheckLiteral,
  pause: Pause,
): Promise<Detail[]> {
  return [
    ...unmaskHeaders(fields.headers ?? {}, null, 'headers').problems,
    ...unmaskAuth(fields, { authType: null, authConfig: null }).problems,
    ...(await monitorProblems(fields, checkLiteral, pause)),
  ]
}

function urlProblems({ type, url }: MonitorFields, checkLiteral: CheckLiteral): Detail[] {
  if (url === null) return []
  const target = parseTarget(type, url)
  if ('error' in target) return [{ path: 'url', message: target.error }]
  const refusal = checkLiteral(target.host)
  return refusal === null ? [] : [{ path: 'url', message: `blocked_target: ${refusal}` }]
}

function keywordProblems({ keyword, keywordType }: MonitorFields, before: MonitorFields | null): Detail[] {
  if (keyword === before?.keyword && keywordType === before?.keywordType) return []
  const problem = keyword === null || keywordType !== 'regex' ? null : regexProblem(keyword)
  return problem === null ? [] : [{ path: 'keyword', message: `keyword cannot be used as a regex: ${problem}` }]
}

async function assertionProblems(
  { assertions }: MonitorFields,
  before: MonitorFields | null,
  pause: Pause,
): Promise<Detail[]> {
  const problems: Detail[] = []
  const stored = before?.assertions ?? []
  for (const [index, assertion] of (assertions ?? []).entries()) {
    if (stored.some(one => isDeepStrictEqual(one, assertion))) continue
    await pause()
    const problem = validateAssertion(assertion)
    if (problem !== null) problems.push({ path: `assertions[${index}]`, message: problem })
  }
  return problems
}
