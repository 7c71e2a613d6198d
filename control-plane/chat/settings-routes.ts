import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOfSession, readSession } from '../accounts/sessions/actions.ts'
import { tokenOf } from '../accounts/sessions/cookie.ts'
import { now } from '../platform/clock.ts'
import type { App } from '../web/app.ts'
import { type Caller, isAllowed } from '../web/auth.ts'
import { insufficientScope, notFound } from '../web/errors.ts'
import { answerPerson, sendPage } from '../web/forms.ts'
import { connectRoutes } from './connect-routes.ts'
import { beginInstall, type InstallTools } from './install-actions.ts'
import { settingsPage } from './settings-page.tsx'
import { listInstallations } from './store.ts'

const PAGE = '/settings/chat'

/** The page that an install ends on, and where somebody who is signed in begins one: browsers send no API keys. */
export function chatSettingsRoutes(app: App, tools: InstallTools & { isOwnHost(host: string): boolean }): void {
  const { db, settings } = tools
  app.setErrorHandler(answerPerson)
  app.addHook('preHandler', async request => {
    if (!tools.isOwnHost(request.host)) throw notFound('page')
  })

  app.register(async scope => connectRoutes(scope as App, tools))

  /** Null when somebody has to sign in first, and is on the way there. */
  const callerOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Caller | null> => {
    const session = await readSession(db, tokenOf(request.headers.cookie))
    if (!session) {
      await reply.redirect(`/sign-in?return_to=${PAGE}`, 303)
      return null
    }
    const caller = callerOfSession(session)
    if (!caller) throw insufficientScope('you belong to no organization; ask an admin to invite you')
    return caller
  }

  app.get(PAGE, async (request, reply) => {
    const caller = await callerOf(request, reply)
    if (!caller) return reply
    const { rows: installations } = await listInstallations(db, caller.projectId, null)
    const mayConnect = isAllowed(caller, 'write')
    return sendPage(reply, settingsPage({ installations, hasApp: settings !== null, mayConnect }))
  })

  app.get(`${PAGE}/install`, async (request, reply) => {
    const caller = await callerOf(request, reply)
    if (!caller) return reply
    if (!isAllowed(caller, 'write')) throw insufficientScope('only editors and admins can connect a team')
    return reply.header('cache-control', 'no-store').redirect(beginInstall(tools, caller, undefined, now()), 302)
  })
}
