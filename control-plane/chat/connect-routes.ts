import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSession } from '../accounts/sessions/actions.ts'
import { tokenOf } from '../accounts/sessions/cookie.ts'
import { now } from '../platform/clock.ts'
import type { App } from '../web/app.ts'
import { ApiError } from '../web/errors.ts'
import { answerPerson, assertOwnForm, sendPage, takeForms } from '../web/forms.ts'
import { confirmPage, connectedPage, refusedPage } from './connect-pages.tsx'
import { CONNECT } from './connect-path.ts'
import { finishInstall, type InstallTools, type Returned, readBegun } from './install-actions.ts'
import { landingOf } from './state.ts'
import { textOf } from './words.ts'

type Answered = FastifyRequest<{ Querystring: Record<string, unknown> }>

/**
 * Where an installation ends in a browser. Who is signed in as the person who began it is through; anybody else is asked,
 * because a state says who began, not whose browser this is.
 */
export function connectRoutes(app: App, tools: InstallTools): void {
  takeForms(app)
  app.setErrorHandler((thrown, request, reply) => {
    const isPage = thrown instanceof ApiError && request.headers.accept?.includes('text/html')
    return isPage ? sendPage(reply, refusedPage(thrown.message), thrown.status) : answerPerson(thrown, request, reply)
  })

  app.get(CONNECT, async (request: Answered, reply) => {
    const returned = returnedOf(request)
    const begun = await readBegun(tools, returned.state ?? '', now())
    const session = await readSession(tools.db, tokenOf(request.headers.cookie))
    const isBeginner = session?.userId === begun.userId
    if (!isBeginner && returned.error === undefined) return sendPage(reply, confirmPage(begun))
    const { landing } = await finishInstall(tools, returned, request.ip, now())
    return leave(reply).redirect(landing, 302)
  })

  app.post(CONNECT, async (request: Answered, reply) => {
    assertOwnForm(request, tools.publicUrl)
    const { landing, teamName } = await finishInstall(tools, returnedOf(request), request.ip, now())
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
