/**
 * The session cookie. `__Host-` binds it to this host, to TLS and to every path. Browsers also accept it from localhost
 * without TLS, so a local installation works.
 */
export const SESSION_COOKIE = '__Host-picket_session'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

export const buildSessionCookie = (token: string, maxAgeSeconds: number): string =>
  `${SESSION_COOKIE}=${token}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`

export const buildExpiredCookie = (): string => buildSessionCookie('', 0)

/** Parses the token from a Cookie header. Returns null without a well-formed token. */
export function parseSessionToken(header: string | undefined): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=')
    if (name === SESSION_COOKIE && /^[\w-]{43}$/.test(value)) return value
  }
  return null
}
