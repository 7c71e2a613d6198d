import { toGroupKey } from '../../../core/board/board-groups.ts'
import type { BoardRequest } from '../../../core/board/board-row.ts'

const FIRST_ROWS = 40
/** A page of more rows takes a server too long to render. */
export const MAX_ROWS = 2_000

/** The query: `q`, and `tag` of links in alerts and on the page of a monitor. */
export function parseText(search: URLSearchParams): string {
  const tag = search.get('tag')
  return [search.get('q'), tag && `tag:"${tag}"`].filter(Boolean).join(' ')
}

export const isGrouped = (search: URLSearchParams): boolean => search.get('group') === 'tag'

/** `q`, `rows` (the number of rows), `group=tag`, and `open` (an open group, several times; without a value none). */
export function parseListSearch(search: URLSearchParams): BoardRequest {
  const rows = search.get('rows') ?? ''
  return {
    text: parseText(search),
    keepsOrder: true,
    limit: /^[1-9]\d{0,4}$/.test(rows) ? Math.min(Number(rows), MAX_ROWS) : FIRST_ROWS,
    ...(isGrouped(search) && { groups: { open: search.has('open') ? search.getAll('open') : null } }),
  }
}

/** The address of the list with another query. The grouping stays. */
export function buildQueryAddress(search: URLSearchParams, text: string): string {
  const next = new URLSearchParams()
  if (text !== '') next.set('q', text)
  if (isGrouped(search)) next.set('group', 'tag')
  return toAddress(next)
}

/** The address of the list with groups or without. */
export const buildGroupAddress = (search: URLSearchParams, isWanted: boolean): string =>
  buildQueryAddress(new URLSearchParams(isWanted ? { group: 'tag' } : {}), parseText(search))

/** The address that opens a group or closes it. `open`: the tags of the open groups. */
export function buildToggleAddress(
  search: URLSearchParams,
  open: readonly (string | null)[],
  tag: string | null,
): string {
  const keys = open.map(toGroupKey)
  const key = toGroupKey(tag)
  const next = new URLSearchParams(search)
  next.delete('open')
  for (const one of keys.includes(key) ? keys.filter(other => other !== key) : [...keys, key]) next.append('open', one)
  // an address without `open` has other groups open
  if (!next.has('open')) next.append('open', NO_GROUP)
  return toAddress(next)
}

/** No tag has this name: it contains a line break. */
const NO_GROUP = '\n'

/** Colons stay readable. */
const toAddress = (search: URLSearchParams) =>
  search.size === 0 ? '/monitors' : `/monitors?${String(search).replaceAll('%3A', ':')}`
