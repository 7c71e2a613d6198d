import type { FastifyRequest } from 'fastify'
import { createPicket } from '../../deploy/client/index.ts'
import type { App } from '../foundation/web/server/app.ts'
import { createExecute, type Execute } from './core/operations.ts'
import type { Queries, Result, Results } from './core/screen.ts'

/** Never resolved: requests of this client do not leave the process. */
const ORIGIN = 'http://dashboard.invalid/session'

/**
 * The API for the session of a request, without a connection: the operations pass all checks of the session bridge. The
 * limits of the client's address and session apply.
 */
export function createSessionExecute(app: App, request: FastifyRequest): Execute {
  const { cookie = '', host = '', origin, 'sec-fetch-site': site } = request.headers
  // the bridge checks itself that a page of this installation sent the form
  const headers = { cookie, host, ...(origin && { origin }), ...(site && { 'sec-fetch-site': site }) }
  const inject = async (input: unknown): Promise<Response> => {
    const sent = input as Request
    const { pathname, search } = new URL(sent.url)
    const payload = sent.method === 'GET' ? '' : await sent.text()
    const answer = await app.inject({
      ...{ method: sent.method as 'GET', url: pathname + search, remoteAddress: request.ip },
      headers: { ...headers, ...(payload && { 'content-type': 'application/json' }) },
      ...(payload && { payload }),
    })
    return new Response(answer.payload, { status: answer.statusCode, headers: { 'content-type': 'application/json' } })
  }
  return createExecute(createPicket({ origin: ORIGIN, fetch: inject as typeof fetch }), error =>
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
