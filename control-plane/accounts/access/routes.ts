import type { FastifyReply, FastifyRequest } from 'fastify'
import { now } from '../../platform/clock.ts'
import { isId } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres.ts'
import type { App } from '../../web/app.ts'
import { notFound } from '../../web/errors.ts'
import { fieldsOf, sendPage } from '../../web/forms.ts'
import { readSession } from '../sessions/actions.ts'
import { tokenOf } from '../sessions/cookie.ts'
import type { Session } from '../sessions/store.ts'
import { HOME, returnPath } from '../sign-in/return-to.ts'
import { decide, makeAdminKey, reviewOf, suspendedIn } from './actions.ts'
import { type Choice, KINDS } from './choice.ts'
import { accessPage, madeKeyPage } from './page.tsx'

const PAGE = '/account/access'

/** The page after signing in: first what the person has to decide. */
export async function landingOf(db: Db, token: string, returnTo: string): Promise<string> {
  const session = await readSession(db, token)
  const review = session && (await reviewOf(db, session))
  return review?.isUndecided ? withReturn(returnTo) : returnTo
}

const withReturn = (returnTo: string) =>
  returnTo === HOME ? PAGE : `${PAGE}?${new URLSearchParams({ return_to: returnTo })}`

/** Pages on which an admin keeps or ends what was suspended when the founder's address was proven. */
export function accessRoutes(app: App, { db }: { db: Db }): void {
  app.get<{ Querystring: { return_to?: unknown } }>(PAGE, async (request, reply) => {
    const session = await viewerOf(request, reply, db)
    if (!session) return reply
    const returnTo = returnPath(request.query.return_to)
    const review = await reviewOf(db, session)
    if (!review) return reply.redirect(returnTo, 303)
    const suspended = await suspendedIn(db, review.organizationId)
    return sendPage(reply, accessPage({ review, suspended, returnTo, now: now() }))
  })

  app.post(PAGE, async (request, reply) => {
    const session = await viewerOf(request, reply, db)
    if (!session) return reply
    const field = fieldsOf(request)
    const choice = readChoice(field)
    if (!choice) throw notFound('choice')
    await decide(db, session, request.ip, choice)
    return reply.redirect(withReturn(returnPath(field('return_to'))), 303)
  })

  app.post(`${PAGE}/key`, async (request, reply) => {
    const session = await viewerOf(request, reply, db)
    if (!session) return reply
    const field = fieldsOf(request)
    const organizationId = field('organization_id')
    if (!isId(organizationId)) throw notFound('organization')
    const { key } = await makeAdminKey(db, session, request.ip, organizationId)
    return sendPage(reply, madeKeyPage(key, withReturn(returnPath(field('return_to')))))
  })
}

/** Null when the person has to sign in first; the answer leads there. */
async function viewerOf(request: FastifyRequest, reply: FastifyReply, db: Db): Promise<Session | null> {
  const session = await readSession(db, tokenOf(request.headers.cookie))
  if (!session) await reply.redirect(`/sign-in?return_to=${PAGE}`, 303)
  return session
}

/** Reads a form of the page; null for what none of its forms sends. */
function readChoice(field: (name: string) => string): Choice | null {
  const [organizationId, kind, id, choice] = [field('organization_id'), field('kind'), field('id'), field('choice')]
  const kinds = kind === 'everything' ? KINDS : KINDS.filter(one => one === kind)
  const isOfAll = id === 'all'
  if (!isId(organizationId) || kinds.length === 0 || (choice !== 'keep' && choice !== 'end')) return null
  if (!isOfAll && (!isId(id) || kinds.length > 1)) return null
  return { organizationId, kinds, id: isOfAll ? null : id, keeps: choice === 'keep' }
}
