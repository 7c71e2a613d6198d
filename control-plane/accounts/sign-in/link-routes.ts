import type { FastifyReply, FastifyRequest } from 'fastify'
import { now } from '../../platform/clock.ts'
import { sha256 } from '../../platform/secrets.ts'
import type { App } from '../../web/app.ts'
import { fieldsOf, sendPage } from '../../web/forms.ts'
import { createLookUp } from '../../web/look-ups.ts'
import { clientNetworkOf } from '../../web/network.ts'
import { landingOf } from '../access/routes.ts'
import { visitorOf } from '../bootstrap/network.ts'
import type { Purpose } from '../password-links/link.ts'
import { findLink } from '../password-links/store.ts'
import { askForReset, type SignInTools, setPassword } from './actions.ts'
import { deadLinkPage, forgotPasswordPage, resetSentPage, setPasswordPage } from './pages.tsx'
import { HOME } from './return-to.ts'
import { enter, toBusy } from './routes.ts'

/** Of one network, a minute and kind of link. */
const UNKNOWN_PER_MINUTE = 60

type Linked = { Params: { token: string } }

/** Links with which a password is set. Opening one changes nothing: programs that look at mails open them too. */
export function linkRoutes(app: App, tools: SignInTools): void {
  passwordRoutes(app, tools, 'claim')
  passwordRoutes(app, tools, 'reset')

  app.get('/forgot-password', (_request, reply) => sendPage(reply, forgotPasswordPage(tools.sendsMail)))
  app.post('/forgot-password', async (request, reply) => {
    if (!tools.sendsMail) return sendPage(reply, forgotPasswordPage(false), 503)
    const email = fieldsOf(request)('email')
    const isAllowed = await askForReset(tools, visitorOf(request), email)
    if (isAllowed) return sendPage(reply, resetSentPage())
    const wrong = 'Links were asked for too often. Try again in a quarter of an hour.'
    return sendPage(reply, forgotPasswordPage(true, email, wrong), 429)
  })
}

function passwordRoutes(app: App, tools: SignInTools, purpose: Purpose): void {
  const { db, sendsMail } = tools
  const lookUp = createLookUp({ what: 'links', missesPerMinute: UNKNOWN_PER_MINUTE })
  const ownerOf = async (request: FastifyRequest<Linked>) => {
    const tokenHash = sha256(request.params.token)
    const found = await lookUp(clientNetworkOf(request), tokenHash.toString('base64'), async () => {
      const owner = await findLink(db, tokenHash, purpose, now())
      return owner === 'unknown' ? null : owner
    })
    return found ?? 'unknown'
  }
  const dead = (reply: FastifyReply, why: Parameters<typeof deadLinkPage>[1]) =>
    sendPage(reply, deadLinkPage(purpose, why, sendsMail), why === 'unknown' ? 404 : 410)

  app.get<Linked>(`/${purpose}/:token`, async (request, reply) => {
    const owner = await ownerOf(request)
    if (typeof owner === 'string') return dead(reply, owner)
    return sendPage(reply, setPasswordPage(purpose, owner.email))
  })

  app.post<Linked>(`/${purpose}/:token`, async (request, reply) => {
    const owner = await ownerOf(request)
    if (typeof owner === 'string') return dead(reply, owner)
    const form = { purpose, token: request.params.token, email: owner.email, password: fieldsOf(request)('password') }
    const set = await setPassword(tools, visitorOf(request), form).catch(toBusy)
    if ('dead' in set) return dead(reply, set.dead)
    if ('problem' in set) return sendPage(reply, setPasswordPage(purpose, owner.email, set.problem), 400)
    return enter(reply, set.token).redirect(await landingOf(db, set.token, HOME), 303)
  })
}
