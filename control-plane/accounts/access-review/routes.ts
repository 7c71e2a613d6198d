import type { FastifyReply, FastifyRequest } from 'fastify'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { parseFormFields, sendPage } from '../../foundation/web/html/forms.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import { type FindSession, readSession } from '../sessions/actions.ts'
import type { UserSession } from '../sessions/store.ts'
import { HOME_PATH, parseReturnPath } from '../sign-in/return-path.ts'
import { applyDecision, findReview, listSuspendedAccess, makeAdminKey } from './actions.ts'
import { ACCESS_KINDS, type AccessDecision } from './decision.ts'
import { accessPage, adminKeyPage } from './page.tsx'

const PAGE = '/account/access'

/** Returns the page to show after signing in: an undecided review comes first. */
export async function resolveLandingPath(db: Db, token: string, returnTo: string): Promise<string> {
  const session = await readSession(db, token)
  const review = session && (await findReview(db, session))
  return review?.isUndecided ? withReturn(returnTo) : returnTo
}

const withReturn = (returnTo: string) =>
  returnTo === HOME_PATH ? PAGE : `${PAGE}?${new URLSearchParams({ return_to: returnTo })}`

/** Pages on which an admin keeps or ends access that was suspended when the founder's address was proven. */
export function accessRoutes(app: App, { db, findSession }: { db: Db; findSession: FindSession }): void {
  app.get<{ Querystring: { return_to?: unknown } }>(PAGE, async (request, reply) => {
    const session = await requireSession(request, reply, findSession)
    if (!session) return reply
    const returnTo = parseReturnPath(request.query.return_to)
    const review = await findReview(db, session)
    if (!review) return reply.redirect(returnTo, 303)
    const suspended = await listSuspendedAccess(db, review.organizationId)
    return sendPage(reply, accessPage({ review, suspended, returnTo, now: now() }))
  })

  app.post(PAGE, async (request, reply) => {
    const session = await requireSession(request, reply, findSession)
    if (!session) return reply
    const field = parseFormFields(request)
    const choice = parseDecision(field)
    if (!choice) throw notFound('choice')
    await applyDecision(db, session, request.ip, choice)
    return reply.redirect(withReturn(parseReturnPath(field('return_to'))), 303)
  })

  app.post(`${PAGE}/key`, async (request, reply) => {
    const session = await requireSession(request, reply, findSession)
    if (!session) return reply
    const field = parseFormFields(request)
    const organizationId = field('organization_id')
    if (!isId(organizationId)) throw notFound('organization')
    const { key } = await makeAdminKey(db, session, request.ip, organizationId)
    return sendPage(reply, adminKeyPage(key, withReturn(parseReturnPath(field('return_to')))))
  })
}

/** Returns null, and redirects to the sign-in page, without a session. */
async function requireSession(
  request: FastifyRequest,
  reply: FastifyReply,
  findSession: FindSession,
): Promise<UserSession | null> {
  const session = await findSession(request)
  if (!session) await reply.redirect(`/sign-in?return_to=${PAGE}`, 303)
  return session
}

/** Parses a form of the page. Returns null for values that no form of the page sends. */
function parseDecision(field: (name: string) => string): AccessDecision | null {
  const [organizationId, kind, id, choice] = [field('organization_id'), field('kind'), field('id'), field('choice')]
  const kinds = kind === 'everything' ? ACCESS_KINDS : ACCESS_KINDS.filter(one => one === kind)
  const isOfAll = id === 'all'
  if (!isId(organizationId) || kinds.length === 0 || (choice !== 'keep' && choice !== 'end')) return null
  if (!isOfAll && (!isId(id) || kinds.length > 1)) return null
  return { organizationId, kinds, id: isOfAll ? null : id, keeps: choice === 'keep' }
}
