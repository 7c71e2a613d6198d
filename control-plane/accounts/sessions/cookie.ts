/**
 * The cookie of a session. `__Host-` binds it to this host, to TLS and to every path; browsers take it from localhost
 * without TLS too, so that what runs on one's own machine works.
 */
export const SESSION_COOKIE = '__Host-picket_session'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

export const buildSessionCookie = (token: string, maxAgeSeconds: number): string =>
  `${SESSION_COOKIE}=${token}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`

export const buildExpiredCookie = (): string => buildSessionCookie('', 0)

/** The token in a Cookie header; null without one, or when what is there cannot be one. */
export function parseSessionToken(header: string | undefined): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=')
    if (name === SESSION_COOKIE && /^[\w-]{43}$/.test(value)) return value
  }
  return null
}
