import { createPicket } from '../../deploy/client/index.ts'
import type { App, IncomingRequest } from '../foundation/web/server/app.ts'
import { type BoardData, type BoardSelection, selectRows, toBoardRows } from './core/board/board.ts'
import { parseBoardQuery } from './core/board/board-query.ts'
import type { BoardRequest } from './core/board/board-row.ts'
import { type SortedBoard, sortBoard } from './core/board/sorted-board.ts'
import { createExecute, type Execute, type OperationError, toOperationError } from './core/operations.ts'
import type { Queries, Result, Results } from './core/screen.ts'

/** Never resolved: requests of this client do not leave the process. */
const SESSION_ORIGIN = 'http://dashboard.invalid/session'

/** Rows that are kept, of all boards together: about 20 MB. */
const MAX_ROWS = 30_000
const MAX_BOARDS = 100

/** Sends a request to the API for the session of a browser. */
type SessionFetch = (sent: Request) => Promise<Response>

/**
 * Sends requests to the API for the session of a request, without a connection: they pass all checks of the session bridge.
 * The limits of the client's address and session apply.
 */
function createSessionFetch(app: App, request: IncomingRequest): SessionFetch {
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

/** Reads the monitors that a screen shows, for the session of a request. */
export type LoadBoard = (
  request: IncomingRequest,
  wanted: BoardRequest | undefined,
  nowMs: number,
) => Promise<Result<BoardSelection>>

/**
 * Creates the reader of boards. Every load asks the API, with the tags of the boards whose rows are kept, so an unchanged board is
 * neither sent nor parsed again. A tag is a hash of the content, so it names the same rows in every session.
 */
export function createLoadBoard(app: App): LoadBoard {
  const cache = createBoardCache()
  return async (request, wanted, atMs) => {
    if (!wanted) return { data: null, atMs, error: null }
    const known = cache.list()
    const headers = { 'if-none-match': [...known.keys()].join(', ') }
    const send = createSessionFetch(app, request)
    const response = await send(new Request(`${SESSION_ORIGIN}/api/v1/monitors/board`, { headers }))
    const outcome = await readBoard(response, known)
    if ('error' in outcome) return { data: null, atMs, error: outcome.error }
    cache.keep(response.headers.get('etag')!, outcome.board)
    const { matches } = parseBoardQuery(wanted.text, atMs)
    return { data: selectRows(outcome.board, matches, wanted), atMs, error: null }
  }
}

type KnownBoards = ReadonlyMap<string, SortedBoard>

async function readBoard(
  response: Response,
  known: KnownBoards,
): Promise<{ board: SortedBoard } | { error: OperationError }> {
  if (response.status === 304) return { board: known.get(response.headers.get('etag')!)! }
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) return { error: toOperationError(body, response.status) }
  const { data } = body as { data: BoardData }
  return { board: sortBoard(toBoardRows(data), null, data.unread_since) }
}

/** Boards by their tag. Those that were used last stay. */
function createBoardCache() {
  // a map keeps its order: the first entry is the least recently used
  const boards = new Map<string, SortedBoard>()
  return {
    list: (): KnownBoards => new Map(boards),
    keep(tag: string, board: SortedBoard): void {
      boards.delete(tag)
      boards.set(tag, board)
      let total = [...boards.values()].reduce((sum, { rows }) => sum + rows.length, 0)
      for (const [oldest, { rows }] of boards) {
        if (total <= MAX_ROWS && boards.size <= MAX_BOARDS) break
        total -= rows.length
        boards.delete(oldest)
      }
    },
  }
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
