import { arrangePage, changeComponent, createComponents, refuseSaidTwice } from '../status-pages/component-actions.ts'
import { componentsOfPage } from '../status-pages/component-store.ts'
import { changeGroup, createGroup } from '../status-pages/group-actions.ts'
import { groupsOfPage } from '../status-pages/group-store.ts'
import type { StoredComponent, StoredGroup } from '../status-pages/records.ts'
import type { ComponentCreate } from '../status-pages/schema.ts'
import { validationError } from '../web/errors.ts'
import type { PageEntry } from './document.ts'
import { concise, differences, type Fields, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import { type Find, referencesTo } from './names.ts'
import {
  COMPONENT_DEFAULTS,
  componentFields,
  GROUP_DEFAULTS,
  groupFields,
  storedComponentFields,
  storedGroupFields,
} from './page-fields.ts'
import { pairs, sameText, unpaired } from './pairs.ts'
import type { Run } from './run.ts'
import {
  COMPONENT_KEYS,
  inReadingOrder,
  misplacedIn,
  type PlacedComponent,
  type PlacedGroup,
  sectionsOf,
} from './sections.ts'
import type { WholePage } from './state-reader.ts'

/** What stands on a page and not in the file. */
export type Sections = { pageId: string; slug: string; groups: StoredGroup[]; components: StoredComponent[] }

type Page = { entry: PageEntry; place: string; id: string; whole: WholePage | null; findMonitor: Find }
/** id by entry; null: it was refused */
type Ids = Map<object, string | null>

type NewComponent = { entry: object; body: ComponentCreate }

/** The groups and components of one page, in their order. */
export async function importSections(run: Run, page: Page): Promise<Sections> {
  const { groups: storedGroups, components: storedComponents } = page.whole ?? { groups: [], components: [] }
  const { groups, components, order } = sectionsOf(page.entry, page.place)
  const ids: Ids = new Map()
  const foundGroups = pairs(
    groups.map(({ entry }) => entry),
    storedGroups,
    sameText('name'),
  )
  for (const [index, group] of groups.entries()) {
    const id = await attempt(run.ledger, group.place, () => importGroup(run, page, group, foundGroups[index] ?? null))
    ids.set(group.entry, id)
  }
  const rows = storedComponents.map(row => ({ ...row, groupName: nameOf(storedGroups, row.groupId) }))
  const entries = components.map(({ entry, group }) => ({ ...entry, groupName: group?.name ?? null }))
  const found = pairs(entries, rows, ...COMPONENT_KEYS)
  const fresh: NewComponent[] = []
  for (const [index, component] of components.entries()) {
    const stored = found[index] ?? null
    const id = await attempt(run.ledger, component.place, () =>
      importComponent(run, page, component, stored, ids, fresh),
    )
    ids.set(component.entry, id)
  }
  await attempt(run.ledger, page.place, () => addComponents(run, page, fresh, ids))
  await arrange(
    run,
    page,
    order.map(entry => ids.get(entry) ?? null),
  )
  const unnamed = { groups: unpaired(storedGroups, foundGroups), components: unpaired(rows, found) }
  return { pageId: page.id, slug: page.entry.slug, ...unnamed }
}

const nameOf = (groups: StoredGroup[], id: string | null) => groups.find(group => group.id === id)?.name ?? null

async function importGroup(run: Run, page: Page, { entry }: PlacedGroup, stored: StoredGroup | null) {
  const { tx, caller, ledger, now } = run
  const [misplaced] = misplacedIn(entry)
  if (misplaced) throw refused(misplaced, 'is for a component; this is a group, for it has components')
  const after = groupFields(entry)
  const key = `${page.entry.slug} / ${entry.name}`
  const body = { ...after, description: entry.description ?? '' } as { name: string; description: string }
  if (stored === null) {
    const group = await createGroup(tx, caller.projectId, page.id, body, now)
    const fields = newFields(concise(after, GROUP_DEFAULTS))
    ledger.changes.push({ action: 'create', resource: 'status_page_group', key, id: null, fields })
    return group.id
  }
  const fields = differences(storedGroupFields(stored), after, asIs => asIs)
  if (noteUpdate(ledger, { resource: 'status_page_group', key, id: stored.id, fields })) {
    await changeGroup(tx, caller.projectId, page.id, stored.id, body, now)
  }
  return stored.id
}

/** Changes one that is there, and gathers one that is not in `fresh`: null, it has no id yet. */
async function importComponent(
  run: Run,
  page: Page,
  { entry, group }: PlacedComponent,
  stored: StoredComponent | null,
  ids: Ids,
  fresh: NewComponent[],
): Promise<string | null> {
  const { tx, caller, ledger, now } = run
  const [misplaced] = group ? [] : misplacedIn(entry)
  if (misplaced) throw refused(misplaced, 'is for a group, which has components')
  const monitorId = entry.monitor === undefined ? null : page.findMonitor(entry.monitor, 'monitor')
  const groupId = group ? (ids.get(group) ?? null) : null
  if ((entry.monitor !== undefined && monitorId === null) || (group && groupId === null)) return null
  const after = componentFields(entry, monitorId, groupId)
  const body = bodyOf(entry, after)
  const key = `${page.entry.slug} / ${entry.name}`
  const show = shownBy(run, page)
  if (stored === null) {
    refuseSaidTwice(monitorId !== null, body)
    fresh.push({ entry, body })
    const fields = newFields(concise({ ...after, monitor: entry.monitor, group: group?.name }, COMPONENT_DEFAULTS))
    ledger.changes.push({ action: 'create', resource: 'status_page_component', key, id: null, fields })
    return null
  }
  const fields = differences(storedComponentFields(stored), after, show)
  if (noteUpdate(ledger, { resource: 'status_page_component', key, id: stored.id, fields })) {
    await changeComponent(tx, caller.projectId, page.id, stored.id, body, now)
  }
  return stored.id
}

async function addComponents({ tx, caller, now }: Run, page: Page, fresh: NewComponent[], ids: Ids): Promise<void> {
  if (fresh.length === 0) return
  const bodies = fresh.map(({ body }) => body)
  const components = await createComponents(tx, caller.projectId, page.id, bodies, now)
  for (const [index, { id }] of components.entries()) ids.set(fresh[index]!.entry, id)
}

/** A status beside a monitor is refused by the action, so it has to get there. */
const bodyOf = (entry: PlacedComponent['entry'], { name, description, monitor, group, status }: Fields) =>
  ({
    ...{ name, description, monitor_id: monitor, group_id: group },
    ...((status ?? entry.status) && { status: entry.status ?? status }),
  }) as ComponentCreate

/** Monitors and groups by their names. */
function shownBy({ state }: Run, { whole }: Page) {
  const { monitors } = state.names
  const groups = referencesTo(whole?.groups ?? [])
  return (fields: Fields): Fields => ({
    ...fields,
    monitor: fields.monitor && (monitors.get(fields.monitor as string) ?? fields.monitor),
    group: fields.group && (groups.get(fields.group as string) ?? fields.group),
  })
}

const refused = (path: string, sentence: string) => validationError([{ path, message: `${path} ${sentence}` }])

/** Puts what the file names first, in its order. */
async function arrange({ tx, caller, ledger, now }: Run, page: Page, ids: (string | null)[]): Promise<void> {
  const [groups, components] = [await groupsOfPage(tx, page.id), await componentsOfPage(tx, page.id)]
  const before = inReadingOrder(groups, components)
  const named = ids.filter(id => id !== null)
  const wanted = [...named, ...before.filter(id => !named.includes(id))]
  const after = inReadingOrder(...renumbered(wanted, groups, components))
  if (`${before}` === `${after}`) return
  if (page.whole !== null) {
    const names = new Map([...groups, ...components].map(({ id, name }) => [id, name]))
    const shown = (order: string[]) => order.map(id => names.get(id))
    const fields = { order: { from: shown(before), to: shown(after) } }
    ledger.changes.push({ action: 'update', resource: 'status_page', key: page.entry.slug, id: page.id, fields })
  }
  await arrangePage(tx, caller.projectId, page.id, wanted, now)
}

function renumbered(wanted: string[], groups: StoredGroup[], components: StoredComponent[]) {
  const places = new Map(wanted.map((id, displayOrder) => [id, { displayOrder }]))
  return [
    groups.map(group => ({ ...group, ...places.get(group.id) })),
    components.map(component => ({ ...component, ...places.get(component.id) })),
  ] as const
}
