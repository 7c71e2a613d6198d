import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { parseFormFields, sendPage } from '../../../foundation/web/html/forms.ts'
import { getClientNetwork } from '../../../foundation/web/limits/client-network.ts'
import { createPublicLookup } from '../../../foundation/web/limits/public-lookup.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { resolveLandingPath } from '../../access-review/routes.ts'
import { getClientInfo } from '../../registration/client-info.ts'
import { requestPasswordReset, type SignInTools, setPassword } from '../actions.ts'
import { forgotPasswordPage, invalidLinkPage, resetSentPage, setPasswordPage } from '../pages.tsx'
import { HOME_PATH } from '../return-path.ts'
import { rethrowBusy, setSessionCookie } from '../session-routes.ts'
import type { LinkPurpose } from './link.ts'
import { findLink } from './store.ts'

/** Unknown links of each kind that one network may open in a minute. */
const MAX_UNKNOWN_PER_MINUTE = 60

type TokenRoute = { Params: { token: string } }

/** Routes of links that set a password. Opening a link changes nothing, because programs that scan email open links too. */
export function linkRoutes(app: App, tools: SignInTools): void {
  setPasswordRoutes(app, tools, 'claim')
  setPasswordRoutes(app, tools, 'reset')

  app.get('/forgot-password', (_request, reply) => sendPage(reply, forgotPasswordPage(tools.sendsMail)))
  app.post('/forgot-password', async (request, reply) => {
    if (!tools.sendsMail) return sendPage(reply, forgotPasswordPage(false), 503)
    const email = parseFormFields(request)('email')
    const isAllowed = await requestPasswordReset(tools, getClientInfo(request), email)
    if (isAllowed) return sendPage(reply, resetSentPage())
    const wrong = 'Too many links were requested. Try again in 15 minutes.'
    return sendPage(reply, forgotPasswordPage(true, email, wrong), 429)
  })
}

function setPasswordRoutes(app: App, tools: SignInTools, purpose: LinkPurpose): void {
  const { db, sendsMail } = tools
  const lookUp = createPublicLookup({ what: 'links', missesPerMinute: MAX_UNKNOWN_PER_MINUTE })
  const findOwner = async (request: FastifyRequest<TokenRoute>) => {
    const tokenHash = sha256(request.params.token)
    const found = await lookUp(getClientNetwork(request), tokenHash.toString('base64'), async () => {
      const owner = await findLink(db, tokenHash, purpose, now())
      return owner === 'unknown' ? null : owner
    })
    return found ?? 'unknown'
  }
  const sendInvalidLink = (reply: FastifyReply, why: Parameters<typeof invalidLinkPage>[1]) =>
    sendPage(reply, invalidLinkPage(purpose, why, sendsMail), why === 'unknown' ? 404 : 410)

  app.get<TokenRoute>(`/${purpose}/:token`, async (request, reply) => {
    const owner = await findOwner(request)
    if (typeof owner === 'string') return sendInvalidLink(reply, owner)
    return sendPage(reply, setPasswordPage(purpose, owner.email))
  })

  app.post<TokenRoute>(`/${purpose}/:token`, async (request, reply) => {
    const owner = await findOwner(request)
    if (typeof owner === 'string') return sendInvalidLink(reply, owner)
    const form = {
      purpose,
      token: request.params.token,
      email: owner.email,
      password: parseFormFields(request)('password'),
    }
    const set = await setPassword(tools, getClientInfo(request), form).catch(rethrowBusy)
    if ('invalid' in set) return sendInvalidLink(reply, set.invalid)
    if ('problem' in set) return sendPage(reply, setPasswordPage(purpose, owner.email, set.problem), 400)
    return setSessionCookie(reply, set.token).redirect(await resolveLandingPath(db, set.token, HOME_PATH), 303)
  })
}
