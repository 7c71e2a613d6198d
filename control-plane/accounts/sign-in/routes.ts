import type { FastifyReply, FastifyRequest } from 'fastify'
import { TooBusy } from '../../platform/passwords.ts'
import { sha256 } from '../../platform/secrets.ts'
import type { App } from '../../web/app.ts'
import { notFound, unavailable } from '../../web/errors.ts'
import { answerPerson, assertOwnForm, fieldsOf, sendPage, takeForms } from '../../web/forms.ts'
import { accessRoutes, landingOf } from '../access/routes.ts'
import { visitorOf } from '../bootstrap/network.ts'
import { readSession, SESSION_MS } from '../sessions/actions.ts'
import { clearCookie, setCookie, tokenOf } from '../sessions/cookie.ts'
import { removeSession } from '../sessions/store.ts'
import { accountRoutes } from './account-routes.ts'
import { type SignInTools, signIn, tooMany } from './actions.ts'
import { linkRoutes } from './link-routes.ts'
import { needsTlsPage, signInPage } from './pages.tsx'
import { returnPath } from './return-to.ts'
import { endSessions } from './session-actions.ts'

/** Pages with which people come in, and their own account (decisions 2.7). They stand beside the API and work without scripts. */
export function signInRoutes(app: App, tools: SignInTools & { isOwnHost(host: string): boolean }): void {
  app.register(async scope => {
    takeForms(scope as App)
    scope.addHook('preHandler', async (request, reply) => {
      // nobody signs in on a customer's domain
      if (!tools.isOwnHost(request.host)) throw notFound('page')
      if (request.method === 'POST') assertOwnForm(request, tools.publicUrl)
      // before a link is spent, or a password sent that anybody on the way can read
      if (!mayKeepCookie(request, tools.publicUrl)) return sendPage(reply, needsTlsPage(), 403)
    })
    scope.setErrorHandler(answerPerson)
    doorRoutes(scope as App, tools)
    linkRoutes(scope as App, tools)
    accountRoutes(scope as App, tools)
    accessRoutes(scope as App, tools)
  })
}

function doorRoutes(app: App, tools: SignInTools): void {
  app.get<{ Querystring: { return_to?: unknown } }>('/sign-in', async (request, reply) => {
    const returnTo = returnPath(request.query.return_to)
    if (await sessionOf(request, tools)) return reply.redirect(returnTo, 303)
    return sendPage(reply, signInPage({ email: '', returnTo }))
  })

  app.post('/sign-in', async (request, reply) => {
    const field = fieldsOf(request)
    const [email, returnTo] = [field('email'), returnPath(field('return_to'))]
    const attempt = signIn(tools, visitorOf(request), { email, password: field('password') })
    const signedIn = await attempt.catch(toBusy)
    if ('token' in signedIn) {
      const before = tokenOf(request.headers.cookie)
      if (before !== null) await removeSession(tools.db, sha256(before))
      return enter(reply, signedIn.token).redirect(await landingOf(tools.db, signedIn.token, returnTo), 303)
    }
    if (signedIn.refused === 'wrong') {
      return sendPage(reply, signInPage({ email, returnTo }, 'The e-mail address or the password is wrong.'), 401)
    }
    reply.header('retry-after', signedIn.waitSeconds)
    return sendPage(reply, signInPage({ email, returnTo }, tooMany(signedIn.waitSeconds)), 429)
  })

  app.post('/sign-out', async (request, reply) => {
    const session = await sessionOf(request, tools)
    if (session) await endSessions(tools.db, session, { id: session.id }, request)
    return reply.header('set-cookie', clearCookie()).redirect('/sign-in', 303)
  })
}

/** Who is signed in; null: nobody. */
export const sessionOf = (request: FastifyRequest, { db }: Pick<SignInTools, 'db'>) =>
  readSession(db, tokenOf(request.headers.cookie))

/** Whoever comes in gets a session of their own, whatever cookie they brought. */
export const enter = (reply: FastifyReply, token: string): FastifyReply =>
  reply.header('set-cookie', setCookie(token, SESSION_MS / 1_000))

export function toBusy(error: unknown): never {
  throw error instanceof TooBusy ? unavailable('too many people sign in at this moment; try again') : error
}

/** Browsers keep the cookie over TLS, which a proxy in front may do for us, and from this machine itself. */
function mayKeepCookie({ host, protocol }: FastifyRequest, publicUrl: string): boolean {
  const isOnThisMachine = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
  return protocol === 'https' || publicUrl.startsWith('https:') || isOnThisMachine
}
