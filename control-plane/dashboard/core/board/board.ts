import { getShownStatus, STATUS_ORDER } from '../../parts/status.tsx'
import type { OperationResponse } from '../operations.ts'
import { type BoardGroup, countStatuses, groupByTag } from './board-groups.ts'
import type { BoardCounts, BoardRequest, BoardRow } from './board-row.ts'

/** All monitors of a project, in columns. */
export type BoardData = OperationResponse<'readMonitorBoard'>['data']

/** The rows that a screen shows. */
export type BoardSelection = {
  /** empty when there are groups */
  rows: BoardRow[]
  /** null unless the rows are grouped */
  groups: BoardGroup[] | null
  /** how many rows match the query */
  matching: number
  total: number
  counts: BoardCounts
  /** every tag in use, by name */
  tags: string[]
  /** how many monitors are to be checked in each region */
  regions: Record<string, number>
  /** some monitors whose settings do not allow a check, and how many there are */
  issues: { rows: BoardRow[]; total: number }
}

const MAX_ISSUES = 5

/** Converts columns to rows. */
export function toBoardRows({ monitors }: Pick<BoardData, 'monitors'>): BoardRow[] {
  return monitors.id.map((id, i) => ({
    id,
    name: monitors.name[i]!,
    type: monitors.type[i]!,
    status: getShownStatus({ status: monitors.status[i]!, is_paused: monitors.is_paused[i]! }),
    sinceMs: monitors.status_changed_at[i] === null ? null : Date.parse(monitors.status_changed_at[i]!),
    tags: monitors.tags[i]!,
    bars: Object.entries(monitors.votes[i]!).map(([name, state]) => ({ name, state })),
    cause: monitors.cause[i] ?? null,
    issue: monitors.issue[i] ?? null,
  }))
}

/** Selects the rows that match a query, trouble first, then by name. `limit`: the number of rows to show without groups. */
export function selectRows(
  all: readonly BoardRow[],
  matches: (row: BoardRow) => boolean,
  { limit, groups }: Pick<BoardRequest, 'limit' | 'groups'>,
): BoardSelection {
  const tags = new Set<string>()
  const regions: Record<string, number> = {}
  const issues: BoardSelection['issues'] = { rows: [], total: 0 }
  for (const row of all) {
    for (const tag of row.tags) tags.add(tag)
    if (row.status !== 'paused') for (const { name } of row.bars) regions[name] = (regions[name] ?? 0) + 1
    if (row.issue !== null && ++issues.total <= MAX_ISSUES) issues.rows.push(row)
  }
  const matching = all.filter(matches).sort(compareRows)
  return {
    rows: groups ? [] : matching.slice(0, limit),
    groups: groups ? groupByTag(matching, groups.open) : null,
    matching: matching.length,
    total: all.length,
    counts: countStatuses(all),
    tags: [...tags].sort(compareTexts),
    regions,
    issues,
  }
}

/** Trouble first, the newest trouble first; then by name. */
function compareRows(a: BoardRow, b: BoardRow): number {
  const byStatus = STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status)
  if (byStatus !== 0) return byStatus
  if (a.status === 'down' || a.status === 'degraded') {
    const byTime = (b.sinceMs ?? 0) - (a.sinceMs ?? 0)
    if (byTime !== 0) return byTime
  }
  return compareTexts(a.name, b.name) || compareTexts(a.id, b.id)
}

/** The same order on the server and in every browser. */
const COLLATOR = new Intl.Collator('en', { numeric: true })
const compareTexts = (a: string, b: string) => COLLATOR.compare(a, b)
