import { buildAddress } from '../../core/address.ts'

/** The most monitors of a maintenance window. */
export const MAX_WINDOW_MONITORS = 1_000

/** The entry of `sessionStorage`: the newest selection of this tab, under the key of its address. */
const ENTRY = 'picket-chosen-monitors'

/**
 * Returns the address of a new maintenance window for monitors that were selected in a list. They are too many for an address,
 * which only has their key; a reload keeps them.
 */
export function toWindowAddress(ids: readonly string[], nowMs: number): string {
  const key = String(nowMs)
  sessionStorage.setItem(ENTRY, JSON.stringify({ key, ids }))
  return buildAddress('/maintenance/new', { monitors: key })
}

/** The monitors of such an address; none when they were selected in another tab, or others have been since. */
export function readChosenMonitors(search: URLSearchParams): readonly string[] {
  if (!search.has('monitors')) return []
  const stored = JSON.parse(sessionStorage.getItem(ENTRY) ?? 'null') as { key: string; ids: string[] } | null
  return stored !== null && stored.key === search.get('monitors') ? stored.ids : []
}
