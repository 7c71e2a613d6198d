import { getShownStatus } from '../../parts/status.tsx'
import type { OperationResponse } from '../operations.ts'
import { type BoardGroup, groupByTag } from './board-groups.ts'
import type { BoardRequest, BoardRow } from './board-row.ts'
import { findParentOutages, type ParentOutage } from './parent-outages.ts'
import type { SortedBoard } from './sorted-board.ts'

/** All monitors of a project, in columns. */
export type BoardData = OperationResponse<'readMonitorBoard'>['data']

/** The rows that a screen shows. */
export type BoardSelection = Pick<SortedBoard, 'counts' | 'tags' | 'regions' | 'issues' | 'unreadSince'> & {
  /** empty when there are groups */
  rows: BoardRow[]
  /** null unless the rows are grouped */
  groups: BoardGroup[] | null
  /** what is down of the parents of these rows, by the id of the row; empty unless it is requested */
  parentOutages: Record<string, ParentOutage[]>
  /**
   * Set when the rows have an order that is no longer the current one. `hiddenFailing`: how many monitors that are down or
   * degraded would be among the rows in the current order, and are not.
   */
  oldOrder: { hiddenFailing: number } | null
  /** how many rows match the query */
  matching: number
  total: number
}

const toMs = (at: string | null | undefined) => (at ? Date.parse(at) : null)

/** Converts columns to rows. A server of the version before has fewer columns. */
export function toBoardRows({ monitors }: Pick<BoardData, 'monitors'>): BoardRow[] {
  return monitors.id.map((id, i) => ({
    id,
    name: monitors.name[i]!,
    type: monitors.type[i]!,
    status: getShownStatus({ status: monitors.status[i]!, is_paused: monitors.is_paused[i]! }),
    sinceMs: toMs(monitors.status_changed_at[i]),
    tags: monitors.tags[i]!,
    bars: Object.entries(monitors.votes[i]!).map(([name, state]) => ({ name, state })),
    cause: monitors.cause[i] ?? null,
    issue: monitors.issue[i] ?? null,
    parents: monitors.parents?.[i] ?? [],
    silencedUntilMs: toMs(monitors.silenced_until?.[i]),
  }))
}

/** Selects the rows that match a query, in their order. `limit`: the number of rows to show without groups. */
export function selectRows(
  { rows, counts, tags, regions, issues, unreadSince }: SortedBoard,
  matches: (row: BoardRow) => boolean,
  { limit, groups, parents }: Omit<BoardRequest, 'text'>,
): BoardSelection {
  const matching = rows.filter(matches)
  const shown = groups ? [] : matching.slice(0, limit)
  return {
    rows: shown,
    groups: groups ? groupByTag(matching, groups.open) : null,
    parentOutages: parents ? findParentOutages(shown, rows) : {},
    oldOrder: null,
    matching: matching.length,
    total: rows.length,
    ...{ counts, tags, regions, issues, unreadSince },
  }
}
