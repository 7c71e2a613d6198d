import type { CheckLiteral } from '../channels/types.ts'
import { webUrlProblem } from '../channels/web-url.ts'
import type { Detail } from '../web/errors.ts'
import { headerProblems, unmaskHeaders } from '../web/header-map.ts'
import { authProblems, unmaskAuth } from './credentials.ts'
import { readField } from './field.ts'
import type { FieldFields, SourceFields } from './fields.ts'
import { parsePath } from './path.ts'

/** Everything wrong with a source that its schema cannot say (decisions 9.1 and 11.3). */
export function sourceProblems(source: SourceFields, checkLiteral: CheckLiteral): Detail[] {
  const url = webUrlProblem(source.url, checkLiteral)
  const root = source.rootPath === null ? null : parsePath(source.rootPath)
  return [
    ...(url === null ? [] : [{ path: 'url', message: url }]),
    ...headerProblems(source.headers ?? {}, 'headers'),
    ...authProblems(source),
    ...rootProblems(root),
  ]
}

function rootProblems(root: ReturnType<typeof parsePath> | null): Detail[] {
  if (root === null) return []
  const message =
    'problem' in root ? root.problem : root.includes(null) ? 'must not have wildcards: it is one place' : null
  return message === null ? [] : [{ path: 'root_path', message: `root_path ${message}` }]
}

/** Puts stored secrets back where masks were sent; `problems` where there is nothing to put back. */
export function unmaskSource(
  sent: SourceFields,
  stored: SourceFields | null,
): { source: SourceFields; problems: Detail[] } {
  const { headers, problems } = unmaskHeaders(sent.headers ?? {}, stored?.headers ?? null, 'headers')
  const auth = unmaskAuth(sent, stored ?? { authType: null, authConfig: null })
  return {
    source: { ...sent, headers: sent.headers && headers, authConfig: auth.authConfig },
    problems: [...problems, ...auth.problems],
  }
}

/** Everything wrong with fields, at places such as `fields[0].rule_config.max`. */
export const listProblems = (fields: FieldFields[]): Detail[] =>
  fields.flatMap((field, i) => fieldProblems(field).map(at => detailAt(`fields[${i}].`, at)))

/** Everything wrong with one field, at places such as `rule_config.max`. */
export function fieldProblems(field: FieldFields): Detail[] {
  const read = readField(field)
  return 'problems' in read ? read.problems : []
}

const detailAt = (prefix: string, { path, message }: Detail): Detail => ({
  path: `${prefix}${path}`,
  message: `${prefix}${message}`,
})
