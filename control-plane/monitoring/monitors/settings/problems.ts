import { isDeepStrictEqual } from 'node:util'
import { validateAssertion } from '../../../../shared/assertions/evaluate.ts'
import { findRegexProblem } from '../../../../shared/assertions/regex.ts'
import { parseTarget } from '../../../../shared/checks/target.ts'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import { findHeaderProblems, unmaskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { authProblems, unmaskAuth } from './credentials.ts'
import type { MonitorFields } from './fields.ts'

/**
 * Finds the problems of a monitor that its schema cannot express: those that depend on several fields, on RE2 or on the
 * egress guard. A missing field is not a problem (see `listConfigurationIssues`). It pauses after each regular expression,
 * because compiling 50 of them can take 100 ms. A stored keyword, stored assertions and stored credentials (`before`) are not
 * validated again: a limit that was introduced later must not prevent other changes.
 */
export async function findMonitorProblems(
  fields: MonitorFields,
  checkLiteral: CheckLiteral,
  pause: YieldPoint,
  before: MonitorFields | null = null,
): Promise<ErrorDetail[]> {
  return [
    ...findUrlProblems(fields, checkLiteral),
    ...findHeaderProblems(fields.headers ?? {}, 'headers'),
    ...findKeywordProblems(fields, before),
    ...(await findAssertionProblems(fields, before, pause)),
    ...(hasSameCredentials(fields, before) ? [] : authProblems(fields)),
  ]
}

/** Finds the problems of a monitor that is not stored yet, so a mask cannot refer to a stored value. */
export async function findNewMonitorProblems(
  fields: MonitorFields,
  checkLiteral: CheckLiteral,
  pause: YieldPoint,
): Promise<ErrorDetail[]> {
  return [
    ...unmaskHeaders(fields.headers ?? {}, null, 'headers').problems,
    ...unmaskAuth(fields, { authType: null, authConfig: null }).problems,
    ...(await findMonitorProblems(fields, checkLiteral, pause)),
  ]
}

const hasSameCredentials = (fields: MonitorFields, before: MonitorFields | null) =>
  before !== null && fields.authType === before.authType && isDeepStrictEqual(fields.authConfig, before.authConfig)

function findUrlProblems({ type, url }: MonitorFields, checkLiteral: CheckLiteral): ErrorDetail[] {
  if (url === null) return []
  const target = parseTarget(type, url)
  if ('error' in target) return [{ path: 'url', message: target.error }]
  const refusal = checkLiteral(target.host)
  return refusal === null ? [] : [{ path: 'url', message: `blocked_target: ${refusal}` }]
}

function findKeywordProblems({ keyword, keywordType }: MonitorFields, before: MonitorFields | null): ErrorDetail[] {
  if (keyword === before?.keyword && keywordType === before?.keywordType) return []
  const problem = keyword === null || keywordType !== 'regex' ? null : findRegexProblem(keyword)
  return problem === null ? [] : [{ path: 'keyword', message: `keyword cannot be used as a regex: ${problem}` }]
}

async function findAssertionProblems(
  { assertions }: MonitorFields,
  before: MonitorFields | null,
  pause: YieldPoint,
): Promise<ErrorDetail[]> {
  const problems: ErrorDetail[] = []
  const stored = before?.assertions ?? []
  for (const [index, assertion] of (assertions ?? []).entries()) {
    if (stored.some(one => isDeepStrictEqual(one, assertion))) continue
    await pause()
    const problem = validateAssertion(assertion)
    if (problem !== null) problems.push({ path: `assertions[${index}]`, message: problem })
  }
  return problems
}
