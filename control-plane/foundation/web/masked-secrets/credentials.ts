import { hasControlCharacter } from '../../../../shared/control-characters.ts'
import type { ErrorDetail } from '../server/errors.ts'
import { findHeaderProblems, MASK } from './header-map.ts'

/** The keys of a type of authentication, and which of them a read may show. */
type CredentialShape = {
  keys: readonly string[]
  readable: readonly string[]
  /** the keys whose values are sent in a header unchanged */
  verbatim?: readonly string[]
  /** the keys with the name and the value of a header */
  header?: { name: string; value: string }
}

/** The keys of the type, and any others that were sent. */
export type AuthConfig = Record<string, unknown>
type Auth<T extends string> = { authType: T | null; authConfig: AuthConfig | null }

const MAX_LENGTH = 8_192
const ONE_LINE = /^[^\r\n\0]*$/
/** True when a text has a character that no header can contain in any encoding: a control character other than a tab. */
const isUnsendable = (text: string) => hasControlCharacter(text.replaceAll('\t', ''))

/** Validates, masks and unmasks pairs of `auth_type` and `auth_config` with these shapes. */
export function createCredentialRules<T extends string>(shapes: Record<T, CredentialShape>) {
  /** The problems of a pair: one without the other, or the wrong shape. */
  function authProblems({ authType, authConfig }: Auth<T>): ErrorDetail[] {
    if (authType === null && authConfig === null) return []
    if (authType === null) return [{ path: 'auth_type', message: 'auth_type is required with auth_config' }]
    if (authConfig === null) return [{ path: 'auth_config', message: 'auth_config is required with auth_type' }]
    const { keys, header, verbatim = [] } = shapes[authType]
    const problems = keys.flatMap(key => [
      ...findTextProblems(key, authConfig[key], authType, verbatim.includes(key)),
      ...(authConfig[key] === '' && (verbatim.includes(key) || key === header?.value) ? [buildEmptyProblem(key)] : []),
    ])
    if (problems.length > 0 || header === undefined) return problems
    const sent = { [String(authConfig[header.name])]: String(authConfig[header.value]) }
    return findHeaderProblems(sent, 'auth_config').map(({ message }) => ({ path: 'auth_config', message }))
  }

  /** The config as reads show it: every value is masked unless its key is readable (docs/design/api.md#masked-secrets). */
  function maskAuth(type: T, config: AuthConfig): AuthConfig {
    const { readable } = shapes[type]
    return Object.fromEntries(
      Object.entries(config).map(([key, value]) => [key, readable.includes(key) ? value : MASK]),
    )
  }

  return { authProblems, maskAuth, unmaskAuth }
}

/** A name or a password may be empty; a token or the value of a header would be sent without a secret. */
const buildEmptyProblem = (key: string): ErrorDetail => ({
  path: `auth_config.${key}`,
  message: `auth_config.${key} must not be empty`,
})

function findTextProblems(key: string, value: unknown, authType: string, isAsIs: boolean): ErrorDetail[] {
  const path = `auth_config.${key}`
  const problem = (sentence: string) => [{ path, message: `${path} ${sentence}` }]
  if (value === undefined) return problem(`is required for auth_type ${authType}`)
  if (typeof value !== 'string') return problem('must be a string')
  if (value.length > MAX_LENGTH) return problem(`must have at most ${MAX_LENGTH} characters`)
  if (!ONE_LINE.test(value)) return problem('must not contain line breaks or NUL')
  return isAsIs && isUnsendable(value) ? problem('must not contain control characters') : []
}

/** Replaces masks by stored values; `problems` where no value of that type and key is stored. */
function unmaskAuth<T extends string>(
  sent: Auth<T>,
  stored: Auth<T>,
): { authConfig: AuthConfig | null; problems: ErrorDetail[] } {
  if (sent.authConfig === null) return { authConfig: null, problems: [] }
  const kept = sent.authType === stored.authType ? (stored.authConfig ?? {}) : {}
  const masked = Object.keys(sent.authConfig).filter(key => sent.authConfig?.[key] === MASK)
  const missing = masked.filter(key => !Object.hasOwn(kept, key))
  return {
    authConfig: { ...sent.authConfig, ...Object.fromEntries(masked.map(key => [key, kept[key] ?? MASK])) },
    problems: missing.map(key => ({
      path: `auth_config.${key}`,
      message: `auth_config.${key} is masked, but no value is stored; send the value`,
    })),
  }
}
