import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FindSession } from '../../../accounts/sessions/actions.ts'
import type { UserSession } from '../../../accounts/sessions/store.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { acceptForms, assertOwnForm, sendErrorPage, sendPage } from '../../../foundation/web/html/forms.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { ApiError, insufficientScope } from '../../../foundation/web/server/errors.ts'
import {
  finishInstall,
  type InstallTools,
  loadPendingInstall,
  type OAuthCallback,
  type PendingInstall,
} from '../installations/install-actions.ts'
import { resolveLandingUrl } from '../installations/install-state.ts'
import { findMember, type Member } from '../people/people-store.ts'
import { toText } from '../provider/field-values.ts'
import { renderConfirmPage, renderConnectedPage, renderRefusedPage } from './connect-pages.tsx'
import { buildConnectPath, CONNECT_PATH } from './connect-path.ts'

type CallbackRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>

/**
 * Routes that finish an installation in a browser (docs/design/chat.md#installation). A session of the user who began it
 * needs no confirmation. Any other browser has to confirm, because a state does not say whose browser this is. An
 * installation that was started with a read key needs the confirmation of a signed-in editor or admin.
 */
export function connectRoutes(app: App, tools: InstallTools & { findSession: FindSession }): void {
  acceptForms(app)
  app.setErrorHandler((thrown, request, reply) => {
    const isPage = thrown instanceof ApiError && request.headers.accept?.includes('text/html')
    return isPage
      ? sendPage(reply, renderRefusedPage(thrown.message), thrown.status)
      : sendErrorPage(thrown, request, reply)
  })

  /** Returns the signed-in editor or admin of the project. Throws 403 without one. */
  const requireEditor = async (
    { projectId, projectName }: PendingInstall,
    session: UserSession | null,
  ): Promise<Member> => {
    const member = session && (await findMember(tools.db, projectId, session.userId))
    if (member && member.role !== 'viewer') return member
    throw insufficientScope(`only editors and admins of ${projectName} can connect a chat; sign in as one of them`)
  }

  app.get(CONNECT_PATH, async (request: CallbackRequest, reply) => {
    const returned = parseCallback(request)
    const pending = await loadPendingInstall(tools, returned.state ?? '', now())
    const session = await tools.findSession(request)
    const isDeclined = returned.error !== undefined
    if (pending.needsEditor && !session && !isDeclined) {
      const back = encodeURIComponent(buildConnectPath(returned))
      return setRedirectHeaders(reply).redirect(`/sign-in?return_to=${back}`, 303)
    }
    if (pending.needsEditor && !isDeclined) await requireEditor(pending, session)
    const isConfirmed = session?.userId === pending.userId && !pending.needsEditor
    if (!isConfirmed && !isDeclined) return sendPage(reply, renderConfirmPage(pending))
    const { landing } = await finishInstall(tools, returned, request, now())
    return setRedirectHeaders(reply).redirect(landing, 302)
  })

  app.post(CONNECT_PATH, async (request: CallbackRequest, reply) => {
    assertOwnForm(request, tools.publicUrl)
    const returned = parseCallback(request)
    const pending = await loadPendingInstall(tools, returned.state ?? '', now())
    const session = pending.needsEditor ? await tools.findSession(request) : null
    const editor = pending.needsEditor ? await requireEditor(pending, session) : null
    const { landing, teamName } = await finishInstall(tools, returned, { ip: request.ip, editor }, now())
    // only members can open the settings
    if (landing === resolveLandingUrl(undefined, tools.publicUrl)) return sendPage(reply, renderConnectedPage(teamName))
    return setRedirectHeaders(reply).redirect(landing, 303)
  })
}

/** The address of this page contains a code, which must not leak. */
const setRedirectHeaders = (reply: FastifyReply) =>
  reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })

function parseCallback({ query: { code, state, error } }: CallbackRequest): OAuthCallback {
  return { code: toText(code), state: toText(state), ...(error !== undefined && { error: toText(error) }) }
}
