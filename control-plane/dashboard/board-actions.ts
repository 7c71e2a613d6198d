import type { App, IncomingRequest } from '../foundation/web/server/app.ts'
import { type BoardData, type BoardRow, type BoardSelection, selectRows, toBoardRows } from './core/board.ts'
import { parseBoardQuery } from './core/board-query.ts'
import { type OperationError, toOperationError } from './core/operations.ts'
import type { BoardRequest, Result } from './core/screen.ts'
import { createSessionFetch, SESSION_ORIGIN } from './load-actions.ts'

/** Rows that are kept, of all boards together: about 20 MB. */
const MAX_ROWS = 30_000
const MAX_BOARDS = 100

/** Reads the monitors that a screen shows, for the session of a request. */
export type BoardLoader = (
  request: IncomingRequest,
  wanted: BoardRequest | undefined,
  nowMs: number,
) => Promise<Result<BoardSelection>>

/**
 * Creates the reader of boards. Every load asks the API, with the tags of the boards whose rows are kept, so an unchanged board is
 * neither sent nor parsed again. A tag is a hash of the content, so it names the same rows in every session.
 */
export function createBoardLoader(app: App): BoardLoader {
  const cache = createRowsCache()
  return async (request, wanted, atMs) => {
    if (!wanted) return { data: null, atMs, error: null }
    const known = cache.list()
    const headers = { 'if-none-match': [...known.keys()].join(', ') }
    const fetch = createSessionFetch(app, request)
    const response = await fetch(new Request(`${SESSION_ORIGIN}/api/v1/monitors/board`, { headers }))
    const outcome = await readRows(response, known)
    if ('error' in outcome) return { data: null, atMs, error: outcome.error }
    cache.keep(response.headers.get('etag')!, outcome.rows)
    const { matches } = parseBoardQuery(wanted.text, atMs)
    return { data: selectRows(outcome.rows, matches, wanted.limit), atMs, error: null }
  }
}

type KnownRows = ReadonlyMap<string, BoardRow[]>

async function readRows(
  response: Response,
  known: KnownRows,
): Promise<{ rows: BoardRow[] } | { error: OperationError }> {
  if (response.status === 304) return { rows: known.get(response.headers.get('etag')!)! }
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) return { error: toOperationError(body, response.status) }
  return { rows: toBoardRows((body as { data: BoardData }).data) }
}

/** Rows by the tag of their board. Those that were used last stay. */
function createRowsCache() {
  // a map keeps its order: the first entry is the least recently used
  const boards = new Map<string, BoardRow[]>()
  return {
    list: (): KnownRows => new Map(boards),
    keep(tag: string, rows: BoardRow[]): void {
      boards.delete(tag)
      boards.set(tag, rows)
      let total = [...boards.values()].reduce((sum, { length }) => sum + length, 0)
      for (const [oldest, { length }] of boards) {
        if (total <= MAX_ROWS && boards.size <= MAX_BOARDS) break
        total -= length
        boards.delete(oldest)
      }
    },
  }
}
