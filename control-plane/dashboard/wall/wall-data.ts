/** What a wallboard shows. Pure. */
import { type BoardData, toBoardRows } from '../core/board/board.ts'
import { parseBoardQuery } from '../core/board/board-query.ts'
import type { BoardRow } from '../core/board/board-row.ts'
import { type ShownStatus, STATUS_ORDER } from '../parts/status.tsx'

/** A monitor that is down or degraded. `tag`: of its group. */
type WallFailure = {
  name: string
  status: 'down' | 'degraded'
  cause: string | null
  since: string | null
  tag: string | null
}

/** The letter of each status. */
const LETTERS: Record<ShownStatus, string> = { down: 'd', degraded: 'w', unknown: 'n', up: 'u', paused: 'p' }

/** `statuses`: one letter a monitor, such as `dwuuup`. */
type WallGroup = { tag: string | null; statuses: string }

/** The answer of a wallboard. It contains no ids, no addresses, and no names of monitors that work. */
export type WallData = {
  name: string
  /** when the monitors were read */
  at: string
  /** since when results of checks have not been read, so statuses are from then; null when they are read */
  unreadSince: string | null
  total: number
  groups: WallGroup[]
  troubles: WallFailure[]
  /** how many further monitors are down or degraded */
  omitted: number
}

const MAX_FAILURES = 60
const COLLATOR = new Intl.Collator('en', { numeric: true })

/** Selects the monitors of a link. Each is in one group, that of its first tag; those without a tag come last. */
export function buildWall({
  name,
  query,
  monitors,
  unreadSince,
  atMs,
}: {
  name: string
  query: string
  monitors: unknown
  unreadSince: Date | null
  atMs: number
}): WallData {
  const rows = toBoardRows({ monitors: monitors as BoardData['monitors'] }).filter(parseBoardQuery(query, atMs).matches)
  rows.sort(
    (a, b) => STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status) || (b.sinceMs ?? 0) - (a.sinceMs ?? 0),
  )
  const byTag = new Map<string | null, string>()
  for (const row of rows) {
    const tag = firstTag(row)
    byTag.set(tag, (byTag.get(tag) ?? '') + LETTERS[row.status])
  }
  const groups = [...byTag].map(([tag, statuses]) => ({ tag, statuses }))
  groups.sort((a, b) => Number(a.tag === null) - Number(b.tag === null) || COLLATOR.compare(a.tag ?? '', b.tag ?? ''))
  const failing = rows.filter(({ status }) => status === 'down' || status === 'degraded')
  const shown = failing.slice(0, MAX_FAILURES).map(row => ({
    name: row.name,
    status: row.status as WallFailure['status'],
    cause: row.cause === null ? null : hideAddresses(row.cause),
    since: row.sinceMs === null ? null : new Date(row.sinceMs).toISOString(),
    tag: firstTag(row),
  }))
  const omitted = failing.length - shown.length
  return {
    ...{ name, at: new Date(atMs).toISOString(), unreadSince: unreadSince?.toISOString() ?? null },
    ...{ total: rows.length, groups, troubles: shown, omitted },
  }
}

const firstTag = ({ tags }: BoardRow): string | null => [...tags].sort(COLLATOR.compare)[0] ?? null

const ADDRESSES = [
  /\b[a-z][a-z0-9+.-]*:\/\/\S+/gi,
  // IPv6, with at least two colons
  /(?<![\w:])(?=[\da-f:.%]*:[\da-f:.%]*:)[\da-f:]+(?:\.\d+){0,3}(?:%\w+)?(?![\w:])/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  /\b(?:[\w-]+\.)+[a-z][\w-]*[a-z0-9](?::\d+)?\b/gi,
]

/** Causes can name hosts: `getaddrinfo ENOTFOUND db.internal`. */
export const hideAddresses = (text: string): string =>
  ADDRESSES.reduce((rest, pattern) => rest.replace(pattern, '…'), text)
