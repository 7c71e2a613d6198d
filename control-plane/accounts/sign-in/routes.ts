import type { FastifyRequest } from 'fastify'
import { sha256 } from '../../foundation/platform/crypto/encryption.ts'
import {
  acceptForms,
  assertOwnForm,
  parseFormFields,
  sendErrorPage,
  sendPage,
} from '../../foundation/web/html/forms.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { ApiError, notFound } from '../../foundation/web/server/errors.ts'
import { addScope } from '../../foundation/web/server/scope.ts'
import { accessRoutes, resolveLandingPath } from '../access-review/routes.ts'
import { getClientInfo } from '../registration/client-info.ts'
import type { FindSession } from '../sessions/actions.ts'
import { endSessions } from '../sessions/audited-actions.ts'
import { buildExpiredCookie, parseSessionToken } from '../sessions/cookie.ts'
import { removeSession } from '../sessions/store.ts'
import { accountRoutes } from './account-routes.ts'
import { formatTooManyAttempts, type SignInTools, signIn } from './actions.ts'
import { needsTlsPage, signInPage } from './pages.tsx'
import { linkRoutes } from './password-links/routes.ts'
import { parseReturnPath } from './return-path.ts'
import { rethrowBusy, setSessionCookie } from './session-routes.ts'

/** The pages for signing in and for the user's own account (docs/design/accounts.md#sign-in). They work without scripts. */
export function signInRoutes(
  app: App,
  tools: SignInTools & { findSession: FindSession; isOwnHost(host: string): boolean },
): void {
  addScope(app, scope => {
    acceptForms(scope)
    scope.addHook('preHandler', async (request, reply) => {
      // no sign-in on a customer's domain
      if (!tools.isOwnHost(request.host)) throw notFound('page')
      if (request.method === 'POST') assertOwnForm(request, tools.publicUrl)
      // before a link is used, or a password is sent over an unencrypted connection
      if (!mayKeepCookie(request, tools.publicUrl)) return sendPage(reply, needsTlsPage(), 403)
    })
    scope.setErrorHandler(sendErrorPage)
    signInPageRoutes(scope, tools)
    linkRoutes(scope, tools)
    accountRoutes(scope, tools)
    accessRoutes(scope, tools)
  })
}

function signInPageRoutes(app: App, tools: SignInTools & { findSession: FindSession }): void {
  app.get<{ Querystring: { return_to?: unknown } }>('/sign-in', async (request, reply) => {
    const returnTo = parseReturnPath(request.query.return_to)
    // a network over the limit of unknown sessions can still open the form
    if (await tools.findSession(request).catch(nullIfLimited)) return reply.redirect(returnTo, 303)
    return sendPage(reply, signInPage({ email: '', returnTo }))
  })

  app.post('/sign-in', async (request, reply) => {
    const field = parseFormFields(request)
    const [email, returnTo] = [field('email'), parseReturnPath(field('return_to'))]
    const attempt = signIn(tools, getClientInfo(request), { email, password: field('password') })
    const signedIn = await attempt.catch(rethrowBusy)
    if ('token' in signedIn) {
      const before = parseSessionToken(request.headers.cookie)
      if (before !== null) await removeSession(tools.db, sha256(before))
      return setSessionCookie(reply, signedIn.token).redirect(
        await resolveLandingPath(tools.db, signedIn.token, returnTo),
        303,
      )
    }
    if (signedIn.refused === 'wrong') {
      return sendPage(reply, signInPage({ email, returnTo }, 'The email address or the password is wrong.'), 401)
    }
    reply.header('retry-after', signedIn.waitSeconds)
    return sendPage(reply, signInPage({ email, returnTo }, formatTooManyAttempts(signedIn.waitSeconds)), 429)
  })

  app.post('/sign-out', async (request, reply) => {
    const session = await tools.findSession(request)
    if (session) await endSessions(tools.db, session, { id: session.id }, request)
    return reply.header('set-cookie', buildExpiredCookie()).redirect('/sign-in', 303)
  })
}

function nullIfLimited(error: unknown): null {
  if (error instanceof ApiError && error.status === 429) return null
  throw error
}

/** Browsers keep the cookie over TLS, which a proxy in front may terminate, and from the local machine. */
function mayKeepCookie({ host, protocol }: FastifyRequest, publicUrl: string): boolean {
  const isOnThisMachine = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
  return protocol === 'https' || publicUrl.startsWith('https:') || isOnThisMachine
}
