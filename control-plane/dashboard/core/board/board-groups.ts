import { STATUS_ORDER } from '../../parts/status.tsx'
import type { BoardCounts, BoardRow } from './board-row.ts'

/** The monitors of a list that have a tag. A monitor with two tags is in two groups. */
export type BoardGroup = {
  /** null: monitors without a tag */
  tag: string | null
  counts: BoardCounts
  total: number
  isOpen: boolean
  /** the first ones of an open group; empty for others */
  rows: BoardRow[]
}

/** The most rows of a group, and of all groups that are open without a choice. */
export const MAX_GROUP_ROWS = 50
const MAX_OPEN_ROWS = 200

/** The name of a group in an address. */
export const toGroupKey = (tag: string | null): string => tag ?? ''

/**
 * Groups rows by tag: groups with trouble first, then by name, those without a tag last. `rows`: in their order. `open`: the
 * keys of the open groups; null: those with trouble, up to a number of rows.
 */
export function groupByTag(rows: readonly BoardRow[], open: readonly string[] | null): BoardGroup[] {
  const byTag = new Map<string | null, BoardRow[]>()
  for (const row of rows)
    for (const tag of row.tags.length > 0 ? new Set(row.tags) : [null]) {
      const members = byTag.get(tag)
      if (members) members.push(row)
      else byTag.set(tag, [row])
    }
  let free = MAX_OPEN_ROWS
  return [...byTag].sort(compareGroups).map(([tag, members]) => {
    const isOpen = open ? open.includes(toGroupKey(tag)) : computeRank(members) < CALM && free > 0
    const shown = isOpen ? members.slice(0, MAX_GROUP_ROWS) : []
    free -= shown.length
    return { tag, counts: countStatuses(members), total: members.length, isOpen, rows: shown }
  })
}

/** How many rows have each status. */
export function countStatuses(rows: readonly BoardRow[]): BoardCounts {
  const counts: BoardCounts = { down: 0, degraded: 0, unknown: 0, up: 0, paused: 0 }
  for (const { status } of rows) counts[status]++
  return counts
}

const CALM = STATUS_ORDER.indexOf('unknown')
/** By the worst status, which is that of the first row. */
const computeRank = ([first]: readonly BoardRow[]): number => Math.min(CALM, STATUS_ORDER.indexOf(first!.status))

type Entry = [tag: string | null, rows: BoardRow[]]

function compareGroups([a, rowsA]: Entry, [b, rowsB]: Entry): number {
  const bySeverity = computeRank(rowsA) - computeRank(rowsB)
  if (bySeverity !== 0) return bySeverity
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return COLLATOR.compare(a, b)
}

const COLLATOR = new Intl.Collator('en', { numeric: true })
