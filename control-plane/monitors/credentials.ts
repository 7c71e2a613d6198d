import type { Detail } from '../web/errors.ts'
import { headerProblems, MASK } from '../web/header-map.ts'
import type { AuthConfig } from './sealed.ts'
import type { AuthType } from './types.ts'

/** What each type of authentication needs (decisions 3.2), and which of it a read may show. */
const SHAPES: Record<AuthType, { keys: readonly string[]; open: readonly string[] }> = {
  basic: { keys: ['username', 'password'], open: ['username'] },
  bearer: { keys: ['token'], open: [] },
  header: { keys: ['name', 'value'], open: ['name'] },
}

const MAX_LENGTH = 8_192
const ONE_LINE = /^[^\r\n\0]*$/

type Auth = { authType: AuthType | null; authConfig: AuthConfig | null }

/** Everything wrong with a pair of `auth_type` and `auth_config`: one without the other, or the wrong shape. */
export function authProblems({ authType, authConfig }: Auth): Detail[] {
  if (authType === null && authConfig === null) return []
  if (authType === null) return [{ path: 'auth_type', message: 'auth_type is required with auth_config' }]
  if (authConfig === null) return [{ path: 'auth_config', message: 'auth_config is required with auth_type' }]
  const problems = SHAPES[authType].keys.flatMap(key => textProblem(key, authConfig[key], authType))
  if (problems.length > 0 || authType !== 'header') return problems
  return headerProblems({ [String(authConfig.name)]: String(authConfig.value) }, 'auth_config').map(({ message }) => ({
    path: 'auth_config',
    message,
  }))
}

function textProblem(key: string, value: unknown, authType: AuthType): Detail[] {
  const path = `auth_config.${key}`
  const problem = (sentence: string) => [{ path, message: `${path} ${sentence}` }]
  if (value === undefined) return problem(`is required for auth_type ${authType}`)
  if (typeof value !== 'string') return problem('must be a string')
  if (value.length > MAX_LENGTH) return problem(`must have at most ${MAX_LENGTH} characters`)
  return ONE_LINE.test(value) ? [] : problem('must not contain line breaks or NUL')
}

/** The config as reads show it: whatever is not known to be harmless is masked (decisions 1.7). */
export function maskAuth(type: AuthType, config: AuthConfig): AuthConfig {
  const { open } = SHAPES[type]
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, open.includes(key) ? value : MASK]))
}

/** Puts stored values back where masks were sent; `problems` where nothing of that type and key is stored. */
export function unmaskAuth(sent: Auth, stored: Auth): { authConfig: AuthConfig | null; problems: Detail[] } {
  if (sent.authConfig === null) return { authConfig: null, problems: [] }
  const kept = sent.authType === stored.authType ? (stored.authConfig ?? {}) : {}
  const masked = Object.keys(sent.authConfig).filter(key => sent.authConfig?.[key] === MASK)
  const missing = masked.filter(key => !Object.hasOwn(kept, key))
  return {
    authConfig: { ...sent.authConfig, ...Object.fromEntries(masked.map(key => [key, kept[key] ?? MASK])) },
    problems: missing.map(key => ({
      path: `auth_config.${key}`,
      message: `there is no stored ${key} to keep; send the value`,
    })),
  }
}
