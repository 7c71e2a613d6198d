import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import { formatPosition, formatRegions, type LogPosition } from '../position.ts'
import type { Board } from './board.ts'
import { BOARD_COLUMNS } from './board-row.ts'

/** What an answer contains besides the rows of the board. */
type BoardScope = {
  projectId: string
  position: LogPosition
  /** the rows to include; null: all, and the reader replaces what it has */
  ids: readonly string[] | null
  regionsWithoutProbe: readonly string[]
  /** since when the results of the project have not been read; null when they are */
  unreadSince: Date | null
}

/** The JSON of a whole board or of some of its rows. Ids that the board does not have are listed as removed. */
export async function buildBoardJson(board: Board, scope: BoardScope, pause: YieldPoint): Promise<string> {
  const { projectId, ids, position, regionsWithoutProbe, unreadSince } = scope
  const rows = ids === null ? [...board.rows.values()] : ids.flatMap(id => board.rows.get(id) ?? [])
  const removed = ids === null ? [] : ids.filter(id => !board.rows.has(id))
  const columns: string[] = []
  for (const [column, name] of BOARD_COLUMNS.entries()) {
    columns.push(`"${name}":[${rows.map(({ fragments }) => fragments[column]).join(',')}]`)
    await pause()
  }
  const head = JSON.stringify({
    revision: formatPosition({ ...position, regions: formatRegions(regionsWithoutProbe) }, projectId),
    reset: ids === null,
    regions_without_probe: regionsWithoutProbe,
    unread_since: unreadSince,
    removed,
  })
  return `${head.slice(0, -1)},"monitors":{${columns.join(',')}}}`
}
