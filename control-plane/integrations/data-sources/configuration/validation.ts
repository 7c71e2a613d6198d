import { findUrlProblem } from '../../../alerting/channels/config/url-validation.ts'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import { findHeaderProblems, unmaskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { parsePath } from '../document/path.ts'
import { compileField } from '../evaluation/compiled-field.ts'
import { authProblems, unmaskAuth } from './credentials.ts'
import type { FieldSettings, SourceSettings } from './settings.ts'

/** Everything wrong with a source that its schema cannot say (decisions 9.1 and 11.3). */
export function findSourceProblems(source: SourceSettings, checkLiteral: CheckLiteral): ErrorDetail[] {
  const url = findUrlProblem(source.url, checkLiteral)
  const root = source.rootPath === null ? null : parsePath(source.rootPath)
  return [
    ...(url === null ? [] : [{ path: 'url', message: url }]),
    ...findHeaderProblems(source.headers ?? {}, 'headers'),
    ...authProblems(source),
    ...findRootPathProblems(root),
  ]
}

function findRootPathProblems(root: ReturnType<typeof parsePath> | null): ErrorDetail[] {
  if (root === null) return []
  const message =
    'problem' in root ? root.problem : root.includes(null) ? 'must not have wildcards: it is one place' : null
  return message === null ? [] : [{ path: 'root_path', message: `root_path ${message}` }]
}

/** Puts stored secrets back where masks were sent; `problems` where there is nothing to put back. */
export function unmaskSource(
  sent: SourceSettings,
  stored: SourceSettings | null,
): { source: SourceSettings; problems: ErrorDetail[] } {
  const { headers, problems } = unmaskHeaders(sent.headers ?? {}, stored?.headers ?? null, 'headers')
  const auth = unmaskAuth(sent, stored ?? { authType: null, authConfig: null })
  return {
    source: { ...sent, headers: sent.headers && headers, authConfig: auth.authConfig },
    problems: [...problems, ...auth.problems],
  }
}

/** Everything wrong with fields, at places such as `fields[0].rule_config.max`. */
export const findFieldListProblems = (fields: FieldSettings[]): ErrorDetail[] =>
  fields.flatMap((field, i) => findFieldProblems(field).map(at => prefixDetail(`fields[${i}].`, at)))

/** Everything wrong with one field, at places such as `rule_config.max`. */
export function findFieldProblems(field: FieldSettings): ErrorDetail[] {
  const read = compileField(field)
  return 'problems' in read ? read.problems : []
}

const prefixDetail = (prefix: string, { path, message }: ErrorDetail): ErrorDetail => ({
  path: `${prefix}${path}`,
  message: `${prefix}${message}`,
})
