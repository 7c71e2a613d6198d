import { STATUS_ORDER } from '../../parts/status.tsx'
import { countStatuses } from './board-groups.ts'
import type { BoardCounts, BoardRow } from './board-row.ts'

/** All monitors of a project in the order of the list, and what is the same for every query. */
export type SortedBoard = {
  /** trouble first, the newest trouble first; then by name */
  rows: readonly BoardRow[]
  /** the same rows, by name only */
  byName: readonly BoardRow[]
  counts: BoardCounts
  /** every tag in use, by name */
  tags: string[]
  /** how many monitors are to be checked in each region */
  regions: Record<string, number>
  /** some monitors whose settings do not allow a check, and how many there are */
  issues: { rows: BoardRow[]; total: number }
  /** since when the results of some monitors have not been read, so their statuses are from then */
  unreadSince: string | null
}

const MAX_ISSUES = 5

/**
 * Sorts rows. Comparing ten thousand names takes long, so the order by name is that of `before`, the board before a change,
 * unless a monitor was added, removed or renamed.
 */
export function sortBoard(
  all: readonly BoardRow[],
  before: SortedBoard | null = null,
  unreadSince: string | null = null,
): SortedBoard {
  const byName = (before && replaceRows(before.byName, all)) ?? all.toSorted(compareNames)
  const tags = new Set<string>()
  const regions: Record<string, number> = {}
  const issues: SortedBoard['issues'] = { rows: [], total: 0 }
  for (const row of all) {
    for (const tag of row.tags) tags.add(tag)
    if (row.status !== 'paused') for (const { name } of row.bars) regions[name] = (regions[name] ?? 0) + 1
    if (row.issue !== null && ++issues.total <= MAX_ISSUES) issues.rows.push(row)
  }
  const byStatus = new Map<BoardRow['status'], BoardRow[]>(STATUS_ORDER.map(status => [status, []]))
  for (const row of byName) byStatus.get(row.status)!.push(row)
  // a stable sort: those of the same time stay in the order of their names
  for (const status of ['down', 'degraded'] as const)
    byStatus.get(status)!.sort((a, b) => (b.sinceMs ?? 0) - (a.sinceMs ?? 0))
  const rows = [...byStatus.values()].flat()
  return { rows, byName, counts: countStatuses(all), tags: [...tags].sort(compareTexts), regions, issues, unreadSince }
}

/** The new rows in the order of the old ones; null when they have other ids or names. */
function replaceRows(old: readonly BoardRow[], all: readonly BoardRow[]): BoardRow[] | null {
  if (old.length !== all.length) return null
  const rows = new Map(all.map(row => [row.id, row]))
  const replaced: BoardRow[] = []
  for (const { id, name } of old) {
    const row = rows.get(id)
    if (row?.name !== name) return null
    replaced.push(row)
  }
  return replaced
}

const compareNames = (a: BoardRow, b: BoardRow) => compareTexts(a.name, b.name) || compareTexts(a.id, b.id)

/** The same order on the server and in every browser. */
const COLLATOR = new Intl.Collator('en', { numeric: true })
const compareTexts = (a: string, b: string) => COLLATOR.compare(a, b)
