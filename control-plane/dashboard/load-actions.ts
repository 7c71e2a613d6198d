import { createPicket } from '../../deploy/client/index.ts'
import type { App, IncomingRequest } from '../foundation/web/server/app.ts'
import { type BoardSelection, selectRows, toBoardRows } from './core/board.ts'
import { parseBoardQuery } from './core/board-query.ts'
import type { BoardRequest } from './core/board-row.ts'
import { createExecute, type Execute } from './core/operations.ts'
import type { Queries, Result, Results } from './core/screen.ts'

/** Never resolved: requests of this client do not leave the process. */
const ORIGIN = 'http://dashboard.invalid/session'

/**
 * The API for the session of a request, without a connection: the operations pass all checks of the session bridge. The
 * limits of the client's address and session apply.
 */
export function createSessionExecute(app: App, request: IncomingRequest): Execute {
  const { cookie = '', host = '', origin, 'sec-fetch-site': site } = request.headers
  // the bridge itself checks that a page of this installation sent a form; reads are made by this program
  const sender = { ...(origin && { origin }), ...(site && { 'sec-fetch-site': site }) }
  const inject = async (input: unknown): Promise<Response> => {
    const sent = input as Request
    const { pathname, search } = new URL(sent.url)
    const payload = sent.method === 'GET' ? '' : await sent.text()
    const answer = await app.inject({
      ...{ method: sent.method as 'GET', url: pathname + search, remoteAddress: request.ip },
      headers: {
        ...{ cookie, host },
        ...(sent.method !== 'GET' && sender),
        ...(payload && { 'content-type': 'application/json' }),
      },
      ...(payload && { payload }),
    })
    return new Response(answer.payload, { status: answer.statusCode, headers: { 'content-type': 'application/json' } })
  }
  return createExecute(createPicket({ origin: ORIGIN, fetch: inject as typeof fetch }), error =>
    request.log.error({ err: error, request_id: request.id }, 'a page could not read its data'),
  )
}

/** Reads the monitors that a screen shows. */
export async function loadBoard(
  execute: Execute,
  request: BoardRequest | undefined,
  nowMs: number,
): Promise<Result<BoardSelection>> {
  if (!request) return { data: null, atMs: nowMs, error: null }
  const outcome = await execute('readMonitorBoard', {})
  if ('error' in outcome) return { data: null, atMs: nowMs, error: outcome.error }
  const { matches } = parseBoardQuery(request.text, nowMs)
  return { data: selectRows(toBoardRows(outcome.data.data), matches, request), atMs: nowMs, error: null }
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
