import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSession } from '../../../accounts/sessions/actions.ts'
import { parseSessionToken } from '../../../accounts/sessions/cookie.ts'
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
 * Where an installation ends in a browser. Who is signed in as the person who began it is through; anybody else is asked,
 * because a state says who began, not whose browser this is. What a read key began is confirmed by an editor or admin who
 * is signed in.
 */
export function connectRoutes(app: App, tools: InstallTools): void {
  acceptForms(app)
  app.setErrorHandler((thrown, request, reply) => {
    const isPage = thrown instanceof ApiError && request.headers.accept?.includes('text/html')
    return isPage
      ? sendPage(reply, renderRefusedPage(thrown.message), thrown.status)
      : sendErrorPage(thrown, request, reply)
  })

  /** Throws 403 unless somebody is signed in who may change the project that an installation was begun for. */
  const editorOf = async ({ projectId, projectName }: PendingInstall, session: UserSession | null): Promise<Member> => {
    const member = session && (await findMember(tools.db, projectId, session.userId))
    if (member && member.role !== 'viewer') return member
    throw insufficientScope(`only editors and admins of ${projectName} can connect a chat; sign in as one of them`)
  }

  app.get(CONNECT_PATH, async (request: CallbackRequest, reply) => {
    const returned = parseCallback(request)
    const begun = await loadPendingInstall(tools, returned.state ?? '', now())
    const session = await readSession(tools.db, parseSessionToken(request.headers.cookie))
    const isDeclined = returned.error !== undefined
    if (begun.needsEditor && !session && !isDeclined) {
      const back = encodeURIComponent(buildConnectPath(returned))
      return setRedirectHeaders(reply).redirect(`/sign-in?return_to=${back}`, 303)
    }
    if (begun.needsEditor && !isDeclined) await editorOf(begun, session)
    const isThrough = session?.userId === begun.userId && !begun.needsEditor
    if (!isThrough && !isDeclined) return sendPage(reply, renderConfirmPage(begun))
    const { landing } = await finishInstall(tools, returned, request, now())
    return setRedirectHeaders(reply).redirect(landing, 302)
  })

  app.post(CONNECT_PATH, async (request: CallbackRequest, reply) => {
    assertOwnForm(request, tools.publicUrl)
    const returned = parseCallback(request)
    const begun = await loadPendingInstall(tools, returned.state ?? '', now())
    const session = begun.needsEditor ? await readSession(tools.db, parseSessionToken(request.headers.cookie)) : null
    const editor = begun.needsEditor ? await editorOf(begun, session) : null
    const { landing, teamName } = await finishInstall(tools, returned, { ip: request.ip, editor }, now())
    // the settings are of use to members only
    if (landing === resolveLandingUrl(undefined, tools.publicUrl)) return sendPage(reply, renderConnectedPage(teamName))
    return setRedirectHeaders(reply).redirect(landing, 303)
  })
}

/** The address here holds a code. */
const setRedirectHeaders = (reply: FastifyReply) =>
  reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })

function parseCallback({ query: { code, state, error } }: CallbackRequest): OAuthCallback {
  return { code: toText(code), state: toText(state), ...(error !== undefined && { error: toText(error) }) }
}
