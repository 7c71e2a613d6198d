import type { Metrics } from '../../../../shared/process/metrics.ts'
import { coalesce } from '../../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { type Encoding, encodeContent } from '../../../foundation/web/content-encoding.ts'
import { readChanges } from '../change-store.ts'
import { isContinuable, type LogPosition } from '../position.ts'
import { type Board, createBoard, setRow } from './board.ts'
import { buildFragments } from './board-row.ts'
import { listBoardSources, listBoardSourcesByIds } from './board-store.ts'

/** Boards and their encoded answers in one process; those that were used last stay. */
const MAX_BYTES = 64 * 1024 * 1024
/** Of a project without monitors. */
const ENTRY_OVERHEAD_BYTES = 2_000
const PAGE_SIZE = 1_000
/** After more changes than this, all rows are read again. */
const MAX_CHANGED_ROWS = 2_000

/** An encoded answer with the whole board. `hash`: of its content. */
type EncodedBoard = { hash: string; position: LogPosition; bytes: Buffer }

export type BoardReader = {
  /** The board as it is in the database now, or later. Loaded at first, then updated with what changed. */
  read(projectId: string): Promise<Board>
  /** The monitors that changed between two positions. null: the log does not reach that far back. */
  listChanged(projectId: string, since: LogPosition, until: LogPosition): Promise<string[] | null>
  /** An answer that was encoded before, or a new one by `build`. Kept until the content changes or it is 5 minutes old. */
  encode(projectId: string, board: Board, wanted: EncodingRequest): Promise<EncodedBoard>
  /** Changes that are not committed yet will have a greater version. */
  version(): number
}

type EncodingRequest = { encoding: Encoding; hash: string; build(position: LogPosition): Promise<string> }
type CachedBoard = { board: Board | null; answers: Map<Encoding, EncodedBoard>; update(): Promise<void> }

const MAX_ANSWER_AGE_MS = 5 * 60_000

/** The boards of the projects that were requested last, in memory (docs/design/live.md#board). */
export function createBoardReader({ db, metrics }: { db: Db; metrics: Metrics }): BoardReader {
  const size = metrics.gauge('picket_boards_bytes', 'Memory of the boards of monitors')
  // a map keeps its order: the first entry is the least recently used
  const cached = new Map<string, CachedBoard>()
  let version = 0
  const nextVersion = () => ++version

  const open = (projectId: string): CachedBoard => {
    const entry: CachedBoard = cached.get(projectId) ?? {
      board: null,
      answers: new Map(),
      update: coalesce(async () => {
        entry.board = await updateBoard(db, projectId, entry.board, nextVersion)
      }),
    }
    cached.delete(projectId)
    cached.set(projectId, entry)
    return entry
  }

  const evict = () => {
    let total = [...cached.values()].reduce((sum, entry) => sum + countBytes(entry), 0)
    for (const [projectId, entry] of cached) {
      if (total <= MAX_BYTES || cached.size === 1) break
      total -= countBytes(entry)
      cached.delete(projectId)
    }
    size.set({}, total)
  }

  return {
    version: () => version,
    async read(projectId) {
      const entry = open(projectId)
      await entry.update()
      evict()
      return entry.board!
    },
    async listChanged(projectId, since, until) {
      if (!isContinuable(since, until)) return null
      const { changes } = await readChanges(db, [{ projectId, since: since.snapshot }], until.snapshot)
      return changes[0]!.get('monitor') ?? []
    },
    async encode(projectId, board, { encoding, hash, build }) {
      const { answers } = open(projectId)
      const known = answers.get(encoding)
      const isRecent = known && board.position.atMs - known.position.atMs < MAX_ANSWER_AGE_MS
      if (isRecent && known.hash === hash) return known
      const { position } = board
      const json = await build(position)
      const answer = { hash, position, bytes: await encodeContent(Buffer.from(json), encoding) }
      // without compression it is rarely requested, and large
      if (encoding !== 'identity') answers.set(encoding, answer)
      evict()
      return answer
    },
  }
}

const countBytes = ({ board, answers }: CachedBoard): number =>
  [...answers.values()].reduce((sum, { bytes }) => sum + bytes.length, ENTRY_OVERHEAD_BYTES + (board?.bytes ?? 0))

/** Applies what the log has since the board's position; loads all rows when there is no board or too much has changed. */
async function updateBoard(db: Db, projectId: string, board: Board | null, nextVersion: () => number): Promise<Board> {
  const since = board?.position.snapshot ?? null
  const { position, changes } = await readChanges(db, [{ projectId, since }])
  const ids = changes[0]!.get('monitor') ?? []
  if (!board || !isContinuable(board.position, position) || ids.length > MAX_CHANGED_ROWS)
    return loadBoard(db, projectId, position, nextVersion)
  if (ids.length > 0) {
    const found = await listBoardSourcesByIds(db, projectId, ids)
    const sources = new Map(found.map(source => [source.id, source]))
    const pause = createYieldPoint()
    const rows: [string, string[] | null][] = []
    for (const id of ids) {
      const source = sources.get(id)
      rows.push([id, source ? buildFragments(source) : null])
      await pause()
    }
    const version = nextVersion()
    for (const [id, fragments] of rows) setRow(board, id, fragments, version)
  }
  board.position = position
  return board
}

/** Reads all monitors after the position was taken, so that no change after it is missed. */
async function loadBoard(db: Db, projectId: string, position: LogPosition, nextVersion: () => number): Promise<Board> {
  const board = createBoard(position)
  const pause = createYieldPoint()
  let page = listBoardSources(db, projectId, null, PAGE_SIZE)
  for (;;) {
    const sources = await page
    const isLast = sources.length < PAGE_SIZE
    // the database reads the next page while this one is added
    if (!isLast) page = listBoardSources(db, projectId, sources.at(-1)!.id, PAGE_SIZE)
    // an error of the next page is thrown when it is awaited
    page.catch(() => {})
    const version = nextVersion()
    for (const source of sources) {
      setRow(board, source.id, buildFragments(source), version)
      await pause()
    }
    if (isLast) return board
  }
}
