import { createPicket } from '../../deploy/client/index.ts'
import type { App, IncomingRequest } from '../foundation/web/server/app.ts'
import { createExecute, type Execute } from './core/operations.ts'
import type { Queries, Result, Results } from './core/screen.ts'

/** Never resolved: requests of this client do not leave the process. */
export const SESSION_ORIGIN = 'http://dashboard.invalid/session'

/** Sends a request to the API for the session of a browser. */
export type SessionFetch = (sent: Request) => Promise<Response>

/**
 * Sends requests to the API for the session of a request, without a connection: they pass all checks of the session bridge.
 * The limits of the client's address and session apply.
 */
export function createSessionFetch(app: App, request: IncomingRequest): SessionFetch {
  const { cookie = '', host = '', origin, 'sec-fetch-site': site } = request.headers
  // the bridge itself checks that a page of this installation sent a form; reads are made by this program
  const sender = { ...(origin && { origin }), ...(site && { 'sec-fetch-site': site }) }
  return async sent => {
    const { pathname, search } = new URL(sent.url)
    const payload = sent.method === 'GET' ? '' : await sent.text()
    const known = sent.headers.get('if-none-match')
    const answer = await app.inject({
      ...{ method: sent.method as 'GET', url: pathname + search, remoteAddress: request.ip },
      headers: {
        ...{ cookie, host },
        ...(known && { 'if-none-match': known }),
        ...(sent.method !== 'GET' && sender),
        ...(payload && { 'content-type': 'application/json' }),
      },
      ...(payload && { payload }),
    })
    const { etag } = answer.headers
    return new Response(answer.statusCode === 304 ? null : answer.payload, {
      status: answer.statusCode,
      headers: { 'content-type': 'application/json', ...(typeof etag === 'string' && { etag }) },
    })
  }
}

/** The operations of the API for the session of a request. */
export function createSessionExecute(app: App, request: IncomingRequest): Execute {
  const fetch = createSessionFetch(app, request) as typeof globalThis.fetch
  return createExecute(createPicket({ origin: SESSION_ORIGIN, fetch }), error =>
    request.log.error({ err: error, request_id: request.id }, 'a page could not read its data'),
  )
}

/** Reads everything that a screen needs, in parallel. A read that fails is an error in its own place. */
export async function loadResults(execute: Execute, queries: Queries, nowMs: number): Promise<Results<Queries>> {
  const load = async (name: string): Promise<[string, Result<unknown>]> => {
    const query = queries[name]!
    const outcome = await execute(query.name, query.arguments)
    if ('error' in outcome) return [name, { data: null, atMs: nowMs, error: outcome.error }]
    return [name, { data: outcome.data, atMs: nowMs, error: null }]
  }
  return Object.fromEntries(await Promise.all(Object.keys(queries).map(load))) as Results<Queries>
}
