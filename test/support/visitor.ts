import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'

export type Shown = { status: number; text: string; location: string | null; headers: Headers }

export type Visitor = {
  get(path: string, headers?: Record<string, string>): Promise<Shown>
  /** submits a form as a page of the site does */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  /** the token of the session, null when there is none */
  cookie(): string | null
  setCookie(token: string | null): void
}

/** A visitor whose browser keeps cookies and follows no redirects. Paths begin with a slash. */
export function createVisitor(origin: string): Visitor {
  let token: string | null = null
  const send = async (path: string, init: RequestInit, headers: Record<string, string>): Promise<Shown> => {
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
