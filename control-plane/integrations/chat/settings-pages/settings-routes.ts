import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FindSession, toSessionCaller } from '../../../accounts/sessions/actions.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { type ApiCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { sendErrorPage } from '../../../foundation/web/html/forms.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { insufficientScope, notFound } from '../../../foundation/web/server/errors.ts'
import { addScope } from '../../../foundation/web/server/scope.ts'
import { beginInstall, type InstallTools } from '../installations/install-actions.ts'
import { connectRoutes } from './connect-routes.ts'

const SETTINGS_PATH = '/settings/chat'

/** Routes of an installation in a browser: where a signed-in user begins it, and where it ends. `/settings/chat` is a screen of the dashboard. */
export function chatSettingsRoutes(
  app: App,
  tools: InstallTools & { findSession: FindSession; isOwnHost(host: string): boolean },
): void {
  app.setErrorHandler(sendErrorPage)
  app.addHook('preHandler', async request => {
    if (!tools.isOwnHost(request.host)) throw notFound('page')
  })

  addScope(app, scope => connectRoutes(scope, tools))

  /** Returns the signed-in user as a caller; null after a redirect to the sign-in page. */
  const requireCaller = async (request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller | null> => {
    const session = await tools.findSession(request)
    if (!session) {
      await reply.redirect(`/sign-in?return_to=${SETTINGS_PATH}`, 303)
      return null
    }
    const caller = toSessionCaller(session)
    if (!caller) throw insufficientScope('you are not a member of an organization; ask an admin to invite you')
    return caller
  }

  app.get(`${SETTINGS_PATH}/install`, async (request, reply) => {
    const caller = await requireCaller(request, reply)
    if (!caller) return reply
    if (!hasScope(caller, 'write')) throw insufficientScope('only editors and admins can connect a team')
    return reply.header('cache-control', 'no-store').redirect(beginInstall(tools, caller, undefined, now()), 302)
  })
}
