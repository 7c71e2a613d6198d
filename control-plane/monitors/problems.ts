import { validateAssertion } from '../../shared/assertions/evaluate.ts'
import { regexProblem } from '../../shared/regex.ts'
import { parseTarget } from '../../shared/target.ts'
import type { CheckLiteral } from '../channels/types.ts'
import type { Detail } from '../web/errors.ts'
import { headerProblems, unmaskHeaders } from '../web/header-map.ts'
import { authProblems, unmaskAuth } from './credentials.ts'
import type { MonitorFields } from './fields.ts'

/**
 * Everything wrong with a monitor that its schema cannot say: what depends on several fields, on RE2 or on the egress
 * guard (decisions 3.2, 3.5 and 11.3). What is merely missing is no problem, see configuration.ts.
 */
export function monitorProblems(fields: MonitorFields, checkLiteral: CheckLiteral): Detail[] {
  return [
    ...urlProblems(fields, checkLiteral),
    ...headerProblems(fields.headers ?? {}, 'headers'),
    ...keywordProblems(fields),
    ...assertionProblems(fields),
    ...authProblems(fields),
  ]
}

/** The same for a monitor that is not stored yet: a mask stands for nothing then. */
export function problemsOfNew(fields: MonitorFields, checkLiteral: CheckLiteral): Detail[] {
  return [
    ...unmaskHeaders(fields.headers ?? {}, null, 'headers').problems,
    ...unmaskAuth(fields, { authType: null, authConfig: null }).problems,
    ...monitorProblems(fields, checkLiteral),
  ]
}

function urlProblems({ type, url }: MonitorFields, checkLiteral: CheckLiteral): Detail[] {
  if (url === null) return []
  const target = parseTarget(type, url)
  if ('error' in target) return [{ path: 'url', message: target.error }]
  const refusal = checkLiteral(target.host)
  return refusal === null ? [] : [{ path: 'url', message: `blocked_target: ${refusal}` }]
}

function keywordProblems({ keyword, keywordType }: MonitorFields): Detail[] {
  const problem = keyword === null || keywordType !== 'regex' ? null : regexProblem(keyword)
  return problem === null ? [] : [{ path: 'keyword', message: `keyword cannot be used as a regex: ${problem}` }]
}

function assertionProblems({ assertions }: MonitorFields): Detail[] {
  return (assertions ?? []).flatMap((assertion, index) => {
    const problem = validateAssertion(assertion)
    return problem === null ? [] : [{ path: `assertions[${index}]`, message: problem }]
  })
}
