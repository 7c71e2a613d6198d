import type { FastifyReply, FastifyRequest } from 'fastify'
import { isId } from '../../foundation/platform/ids.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { parseFormFields, sendPage } from '../../foundation/web/html/forms.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import { findReview } from '../access-review/actions.ts'
import { getClientInfo } from '../registration/client-info.ts'
import { type FindSession, listUserSessions } from '../sessions/actions.ts'
import { endSessions } from '../sessions/audited-actions.ts'
import { enterOrganization, listUserOrganizations } from '../sessions/store.ts'
import { accountPage } from './account-page.tsx'
import { changePassword, type SignInTools } from './actions.ts'
import { rethrowBusy, setSessionCookie } from './session-routes.ts'

/** Routes of the user's own account: sessions, password, current organization. */
export function accountRoutes(app: App, tools: SignInTools & { findSession: FindSession }): void {
  const { db } = tools
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    more: Pick<Parameters<typeof accountPage>[0], 'notice' | 'problem'> = {},
    status = 200,
  ) => {
    const session = await tools.findSession(request)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const [organizations, sessions, review] = await Promise.all([
      listUserOrganizations(db, session.userId),
      listUserSessions(db, session.userId),
      findReview(db, session),
    ])
    return sendPage(reply, accountPage({ session, organizations, sessions, review, now: now(), ...more }), status)
  }
  app.get<{ Querystring: { changed?: unknown; ended?: unknown } }>('/account', (request, reply) => {
    const { changed, ended } = request.query
    const isEnded = ended === '1' ? 'The session was ended.' : null
    return show(request, reply, { notice: changed === '1' ? 'Your password was changed.' : isEnded })
  })

  app.post('/account/sessions/end', async (request, reply) => {
    const session = await tools.findSession(request)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const id = parseFormFields(request)('session_id')
    if (id !== 'others' && !isId(id)) throw notFound('session')
    await endSessions(db, session, id === 'others' ? id : { id }, request)
    return reply.redirect('/account?ended=1', 303)
  })

  app.post('/account/password', async (request, reply) => {
    const session = await tools.findSession(request)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const field = parseFormFields(request)
    const form = { email: session.email, old: field('old'), password: field('password') }
    const changed = await changePassword(tools, getClientInfo(request), form).catch(rethrowBusy)
    if ('problem' in changed) return show(request, reply, { problem: changed }, 400)
    return setSessionCookie(reply, changed.token).redirect('/account?changed=1', 303)
  })

  app.post('/account/organization', async (request, reply) => {
    const session = await tools.findSession(request)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const id = parseFormFields(request)('organization_id')
    if (!isId(id) || !(await enterOrganization(db, session.id, id, now()))) throw notFound('organization')
    return reply.redirect('/account', 303)
  })
}
