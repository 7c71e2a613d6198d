import { compareDisplayOrder, type OrderedItem } from '../../../../pages/core/display-order.ts'
import type { ComponentEntry, PageEntry, SectionEntry } from '../../file/project-file.ts'
import type { MatchKey } from '../matching.ts'

/** A component of a file and its group; null: directly on the page. */
export type PlacedComponent = { entry: ComponentEntry; group: SectionEntry | null; place: string }
export type PlacedGroup = { entry: SectionEntry; place: string }

/**
 * Lists the groups and components of a page in the file. An entry with components is a group. `order`: all entries in
 * reading order.
 */
export function listSections({ components = [] }: PageEntry, place: string) {
  const groups: PlacedGroup[] = []
  const placed: PlacedComponent[] = []
  for (const [index, entry] of components.entries()) {
    const at = `${place}.components[${index}]`
    if (entry.components === undefined) {
      placed.push({ entry, group: null, place: at })
      continue
    }
    groups.push({ entry, place: at })
    for (const [i, inner] of entry.components.entries()) {
      placed.push({ entry: inner, group: entry, place: `${at}.components[${i}]` })
    }
  }
  const order: object[] = components.flatMap(entry => [entry, ...(entry.components ?? [])])
  return { groups, components: placed, order }
}

/** Returns the properties of an entry that do not fit its kind, component or group. */
export function findMisplaced(entry: SectionEntry): (keyof SectionEntry)[] {
  const misplaced = entry.components === undefined ? (['is_collapsed'] as const) : (['monitor', 'status'] as const)
  return misplaced.filter(key => entry[key] !== undefined)
}

type Row = { id: string; name: string; groupName: string | null }
type Entry = { id?: string; name: string; groupName: string | null }

/** Components match by group and name, then by name, because they may have moved. */
export const COMPONENT_KEYS: MatchKey<Entry, Row>[] = [
  {
    ofEntry: ({ groupName, name }) => `${groupName}\n${name}`,
    ofRow: ({ groupName, name }) => `${groupName}\n${name}`,
  },
  { ofEntry: ({ name }) => name, ofRow: ({ name }) => name },
]

/** Returns the ids of groups and components in reading order, each group before its components. */
export function sortInReadingOrder(
  groups: readonly OrderedItem[],
  components: readonly (OrderedItem & { groupId: string | null })[],
): string[] {
  const top = [...groups, ...components.filter(({ groupId }) => groupId === null)].toSorted(compareDisplayOrder)
  const inside = (id: string) => components.filter(({ groupId }) => groupId === id).toSorted(compareDisplayOrder)
  return top.flatMap(({ id }) => [id, ...inside(id).map(component => component.id)])
}
