import { compareDisplayOrder, type OrderedItem } from '../../../../pages/core/display-order.ts'
import type { ComponentEntry, PageEntry, SectionEntry } from '../../file/project-file.ts'
import type { MatchKey } from '../matching.ts'

/** A component of a file and the group that it stands in; null: on the page itself. */
export type PlacedComponent = { entry: ComponentEntry; group: SectionEntry | null; place: string }
export type PlacedGroup = { entry: SectionEntry; place: string }

/**
 * What stands on a page of the file: an entry with components is a group. `order`: all entries as visitors meet them.
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

/** Why an entry of a page is neither a component nor a group: the properties that do not go with the others. */
export function findMisplaced(entry: SectionEntry): (keyof SectionEntry)[] {
  const ofOthers = entry.components === undefined ? (['is_collapsed'] as const) : (['monitor', 'status'] as const)
  return ofOthers.filter(key => entry[key] !== undefined)
}

type Row = { id: string; name: string; groupName: string | null }
type Entry = { id?: string; name: string; groupName: string | null }

/** A component is the one of its name in its group, else the one of its name on the page: it was moved. */
export const COMPONENT_KEYS: MatchKey<Entry, Row>[] = [
  {
    ofEntry: ({ groupName, name }) => `${groupName}\n${name}`,
    ofRow: ({ groupName, name }) => `${groupName}\n${name}`,
  },
  { ofEntry: ({ name }) => name, ofRow: ({ name }) => name },
]

/** Ids of a page's things as visitors meet them: each group before what stands in it. */
export function sortInReadingOrder(
  groups: readonly OrderedItem[],
  components: readonly (OrderedItem & { groupId: string | null })[],
): string[] {
  const top = [...groups, ...components.filter(({ groupId }) => groupId === null)].toSorted(compareDisplayOrder)
  const inside = (id: string) => components.filter(({ groupId }) => groupId === id).toSorted(compareDisplayOrder)
  return top.flatMap(({ id }) => [id, ...inside(id).map(component => component.id)])
}
