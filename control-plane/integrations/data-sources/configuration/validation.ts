import { findUrlProblem } from '../../../alerting/channels/config/url-validation.ts'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import { findHeaderProblems, unmaskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import type { SourceUpdate } from '../api/request-schema.ts'
import { parsePath } from '../document/path.ts'
import { compileField } from '../evaluation/compiled-field.ts'
import { authProblems, unmaskAuth } from './credentials.ts'
import {
  applySourceUpdate,
  type FieldSettings,
  type SourceSettings,
  toFieldSettings,
  toSourceSettings,
} from './settings.ts'

/** Returns the problems of a source that its schema cannot express. */
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

/** Any valid source. */
const SOME_SOURCE = toSourceSettings({ name: 'Some source', url: 'https://example.com/' })

/** Returns the problems that an update has for any source. Parts of credentials depend on the stored ones. */
export function findUpdateProblems(body: SourceUpdate, checkLiteral: CheckLiteral): ErrorDetail[] {
  const { auth_type, auth_config, ...rest } = body
  const hasBoth = auth_type !== undefined && auth_config !== undefined
  return [
    ...findSourceProblems(applySourceUpdate(SOME_SOURCE, hasBoth ? body : rest), checkLiteral),
    ...findFieldListProblems((body.fields ?? []).map(toFieldSettings)),
  ]
}

function findRootPathProblems(root: ReturnType<typeof parsePath> | null): ErrorDetail[] {
  if (root === null) return []
  const message =
    'problem' in root
      ? root.problem
      : root.includes(null)
        ? 'must not contain wildcards, because it names one place'
        : null
  return message === null ? [] : [{ path: 'root_path', message: `root_path ${message}` }]
}

/** Replaces masks by stored secrets. `problems`: masks without a stored secret. */
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

/** Returns the problems of fields, at paths such as `fields[0].rule_config.max`. */
export const findFieldListProblems = (fields: FieldSettings[]): ErrorDetail[] =>
  fields.flatMap((field, i) => findFieldProblems(field).map(at => prefixDetail(`fields[${i}].`, at)))

/** Returns the problems of one field, at paths such as `rule_config.max`. */
export function findFieldProblems(field: FieldSettings): ErrorDetail[] {
  const compiled = compileField(field)
  return 'problems' in compiled ? compiled.problems : []
}

const prefixDetail = (prefix: string, { path, message }: ErrorDetail): ErrorDetail => ({
  path: `${prefix}${path}`,
  message: `${prefix}${message}`,
})
