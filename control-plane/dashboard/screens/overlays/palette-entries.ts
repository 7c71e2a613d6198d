import { buildAddress } from '../../core/address.ts'
import type { BoardRow } from '../../core/board/board-row.ts'
import { canWrite, type Me, type OverlayKind } from '../../core/frame-context.ts'
import { AREA_PAGES, AREAS, type AreaPage } from '../../core/navigation.ts'
import type { ScreenArea } from '../../core/screen.ts'
import { NAMES } from '../../parts/status.tsx'

/** Something that the palette can open. */
export type PaletteEntry = {
  id: string
  name: string
  /** `Page`, `Action`, `View`, or the status of a monitor */
  kind: string
  target: { address: string } | { overlay: OverlayKind }
}

const PAGES: readonly (readonly [name: string, address: string])[] = [
  ...AREAS.map(({ name, path }) => [name, path] as const),
  ['Monitors that are down', '/monitors?q=is:down'],
  ...AREAS.flatMap(({ area, name, path }) => {
    const pages: readonly AreaPage[] = (AREA_PAGES as Partial<Record<ScreenArea, readonly AreaPage[]>>)[area] ?? []
    return pages.filter(page => page.path !== path).map(page => [`${name}: ${page.name}`, page.path] as const)
  }),
  ['Account and sessions', '/account'],
  ['API reference', '/docs'],
]

const CHANGES: readonly (readonly [name: string, address: string])[] = [
  ['New monitor', '/monitors/new'],
  ['New alert channel', '/settings/channels/new'],
  ['Open an incident', '/incidents/new'],
  ['New status page', '/pages/new'],
]

const MAX_MONITORS = 12

/** A saved filter of the list of monitors. */
export type ViewEntry = { id: string; name: string; query: string }

/** The entries for a text: monitors first, unless nothing was typed. `monitors`: those that match the text. */
export function listEntries(
  text: string,
  me: Me,
  monitors: readonly BoardRow[],
  views: readonly ViewEntry[],
): PaletteEntry[] {
  const toEntry =
    (kind: string) =>
    ([name, address]: readonly [string, string]): PaletteEntry => ({
      ...{ id: `${kind}-${address}`, name, kind, target: { address } },
    })
  const fixed: PaletteEntry[] = [
    ...views.map(toViewEntry),
    ...PAGES.map(toEntry('Page')),
    ...(canWrite(me) ? CHANGES.map(toEntry('Action')) : []),
    { id: 'display', name: 'Display: theme, rows, time zone', kind: 'Action', target: { overlay: 'display' } },
    { id: 'calls', name: 'API calls of this page', kind: 'Action', target: { overlay: 'calls' } },
    { id: 'keys', name: 'Keyboard keys', kind: 'Action', target: { overlay: 'keys' } },
  ]
  const matching = rankByName(fixed, text)
  if (text.trim() === '') return matching
  const rows = rankByName(monitors, text, false).slice(0, MAX_MONITORS)
  return [...rows.map(toMonitorEntry), ...matching]
}

const toViewEntry = ({ id, name, query }: ViewEntry): PaletteEntry => ({
  ...{ id, name, kind: 'View', target: { address: buildAddress('/monitors', { q: query }) } },
})

const toMonitorEntry = ({ id, name, status }: BoardRow): PaletteEntry => ({
  ...{ id, name, kind: NAMES[status], target: { address: `/monitors/${id}` } },
})

/**
 * Entries whose name contains every word, those that begin with the text first. `isFiltered` false: the others come last
 * instead of being left out.
 */
export function rankByName<T extends { name: string }>(entries: readonly T[], text: string, isFiltered = true): T[] {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/)
  const rank = ({ name }: T): number => {
    const lower = name.toLowerCase()
    if (lower.startsWith(wanted)) return 0
    if (lower.split(/[^\p{L}\p{N}]+/u).some(part => part.startsWith(wanted))) return 1
    return words.every(word => lower.includes(word)) ? 2 : 3
  }
  return entries
    .map(entry => ({ entry, rank: rank(entry) }))
    .filter(ranked => !isFiltered || ranked.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry)
}
