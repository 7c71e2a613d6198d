import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'

type PageResponse = { status: number; text: string; location: string | null; headers: Headers }

type Visitor = {
  get(path: string, headers?: Record<string, string>): Promise<PageResponse>
  /** sends a form like a page of the site */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<PageResponse>
  /** the token of the session, or null */
  cookie(): string | null
  setCookie(token: string | null): void
}

/** A client that keeps the session cookie and does not follow redirects. Paths begin with a slash. */
export function createVisitor(origin: string): Visitor {
  let token: string | null = null
  const send = async (path: string, init: RequestInit, headers: Record<string, string>): Promise<PageResponse> => {
    const answer = await fetch(origin + path, {
      ...init,
      redirect: 'manual',
      headers: { ...(token !== null && { cookie: `theme=dark; ${SESSION_COOKIE}=${token}` }), ...headers },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name === SESSION_COOKIE) token = value || null
    }
    const { status } = answer
    return { status, text: await answer.text(), location: answer.headers.get('location'), headers: answer.headers }
  }
  return {
    get: (path, headers = {}) => send(path, {}, headers),
    post: (path, fields, headers = {}) =>
      send(path, { method: 'POST', body: new URLSearchParams(fields) }, { origin, ...headers }),
    cookie: () => token,
    setCookie(value) {
      token = value
    },
  }
}
