import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSession } from '../accounts/sessions/actions.ts'
import { tokenOf } from '../accounts/sessions/cookie.ts'
import type { Session } from '../accounts/sessions/store.ts'
import { now } from '../platform/clock.ts'
import type { App } from '../web/app.ts'
import { ApiError, insufficientScope } from '../web/errors.ts'
import { answerPerson, assertOwnForm, sendPage, takeForms } from '../web/forms.ts'
import { confirmPage, connectedPage, refusedPage } from './connect-pages.tsx'
import { CONNECT, connectPath } from './connect-path.ts'
import { type Begun, finishInstall, type InstallTools, type Returned, readBegun } from './install-actions.ts'
import { findMember, type Member } from './people-store.ts'
import { landingOf } from './state.ts'
import { textOf } from './words.ts'

type Answered = FastifyRequest<{ Querystring: Record<string, unknown> }>

/**
 * Where an installation ends in a browser. Who is signed in as the person who began it is through; anybody else is asked,
 * because a state says who began, not whose browser this is. What a read key began is confirmed by an editor or admin who
 * is signed in.
 */
export function connectRoutes(app: App, tools: InstallTools): void {
  takeForms(app)
  app.setErrorHandler((thrown, request, reply) => {
    const isPage = thrown instanceof ApiError && request.headers.accept?.includes('text/html')
    return isPage ? sendPage(reply, refusedPage(thrown.message), thrown.status) : answerPerson(thrown, request, reply)
  })

  /** Throws 403 unless somebody is signed in who may change the project that an installation was begun for. */
  const editorOf = async ({ projectId, projectName }: Begun, session: Session | null): Promise<Member> => {
    const member = session && (await findMember(tools.db, projectId, session.userId))
    if (member && member.role !== 'viewer') return member
    throw insufficientScope(`only editors and admins of ${projectName} can connect a chat; sign in as one of them`)
  }

  app.get(CONNECT, async (request: Answered, reply) => {
    const returned = returnedOf(request)
    const begun = await readBegun(tools, returned.state ?? '', now())
    const session = await readSession(tools.db, tokenOf(request.headers.cookie))
    const isDeclined = returned.error !== undefined
    if (begun.needsEditor && !session && !isDeclined) {
      const back = encodeURIComponent(connectPath(returned))
      return leave(reply).redirect(`/sign-in?return_to=${back}`, 303)
    }
    if (begun.needsEditor && !isDeclined) await editorOf(begun, session)
    const isThrough = session?.userId === begun.userId && !begun.needsEditor
    if (!isThrough && !isDeclined) return sendPage(reply, confirmPage(begun))
    const { landing } = await finishInstall(tools, returned, request, now())
    return leave(reply).redirect(landing, 302)
  })

  app.post(CONNECT, async (request: Answered, reply) => {
    assertOwnForm(request, tools.publicUrl)
    const returned = returnedOf(request)
    const begun = await readBegun(tools, returned.state ?? '', now())
    const session = begun.needsEditor ? await readSession(tools.db, tokenOf(request.headers.cookie)) : null
    const editor = begun.needsEditor ? await editorOf(begun, session) : null
    const { landing, teamName } = await finishInstall(tools, returned, { ip: request.ip, editor }, now())
    // the settings are of use to members only
    if (landing === landingOf(undefined, tools.publicUrl)) return sendPage(reply, connectedPage(teamName))
    return leave(reply).redirect(landing, 303)
  })
}

/** The address here holds a code. */
const leave = (reply: FastifyReply) => reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })

function returnedOf({ query: { code, state, error } }: Answered): Returned {
  return { code: textOf(code), state: textOf(state), ...(error !== undefined && { error: textOf(error) }) }
}
