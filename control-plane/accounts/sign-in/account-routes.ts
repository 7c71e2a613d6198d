import type { FastifyReply, FastifyRequest } from 'fastify'
import { now } from '../../platform/clock.ts'
import { isId } from '../../platform/ids.ts'
import type { App } from '../../web/app.ts'
import { notFound } from '../../web/errors.ts'
import { fieldsOf, sendPage } from '../../web/forms.ts'
import { reviewOf } from '../access/actions.ts'
import { visitorOf } from '../bootstrap/network.ts'
import { sessionsOf } from '../sessions/actions.ts'
import { enterOrganization, organizationsOf } from '../sessions/store.ts'
import { accountPage } from './account-page.tsx'
import { changePassword, type SignInTools } from './actions.ts'
import { enter, sessionOf, toBusy } from './routes.ts'
import { endSessions } from './session-actions.ts'

/** One's own account: where one is signed in, the password, and which organization one looks at. */
export function accountRoutes(app: App, tools: SignInTools): void {
  const { db } = tools
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    more: Pick<Parameters<typeof accountPage>[0], 'notice' | 'problem'> = {},
    status = 200,
  ) => {
    const session = await sessionOf(request, tools)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const [organizations, sessions, review] = await Promise.all([
      organizationsOf(db, session.userId),
      sessionsOf(db, session.userId),
      reviewOf(db, session),
    ])
    return sendPage(reply, accountPage({ session, organizations, sessions, review, now: now(), ...more }), status)
  }
  app.get<{ Querystring: { changed?: unknown; ended?: unknown } }>('/account', (request, reply) => {
    const { changed, ended } = request.query
    const isEnded = ended === '1' ? 'You are signed out there.' : null
    return show(request, reply, { notice: changed === '1' ? 'Your password is changed.' : isEnded })
  })

  app.post('/account/sessions/end', async (request, reply) => {
    const session = await sessionOf(request, tools)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const id = fieldsOf(request)('session_id')
    if (id !== 'others' && !isId(id)) throw notFound('session')
    await endSessions(db, session, id === 'others' ? id : { id }, request)
    return reply.redirect('/account?ended=1', 303)
  })

  app.post('/account/password', async (request, reply) => {
    const session = await sessionOf(request, tools)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const field = fieldsOf(request)
    const form = { email: session.email, old: field('old'), password: field('password') }
    const changed = await changePassword(tools, visitorOf(request), form).catch(toBusy)
    if ('problem' in changed) return show(request, reply, { problem: changed }, 400)
    return enter(reply, changed.token).redirect('/account?changed=1', 303)
  })

  app.post('/account/organization', async (request, reply) => {
    const session = await sessionOf(request, tools)
    if (!session) return reply.redirect('/sign-in?return_to=/account', 303)
    const id = fieldsOf(request)('organization_id')
    if (!isId(id) || !(await enterOrganization(db, session.id, id))) throw notFound('organization')
    return reply.redirect('/account', 303)
  })
}
