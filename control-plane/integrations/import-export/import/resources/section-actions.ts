import { validationError } from '../../../../foundation/web/server/errors.ts'
import {
  arrangePage,
  assertNoManualStatus,
  changeComponent,
  createComponents,
} from '../../../../pages/admin/components/component-actions.ts'
import { changeGroup, createGroup } from '../../../../pages/admin/components/group-actions.ts'
import type { ComponentCreate } from '../../../../pages/admin/schema.ts'
import { listPageComponents } from '../../../../pages/core/component-store.ts'
import { listPageGroups } from '../../../../pages/core/group-store.ts'
import type { StoredComponent, StoredGroup } from '../../../../pages/core/records.ts'
import { describeNewFields, diffFields, omitDefaults, type RecordFields } from '../../fields/fields.ts'
import {
  COMPONENT_DEFAULTS,
  GROUP_DEFAULTS,
  toComponentFields,
  toGroupFields,
  toStoredComponentFields,
  toStoredGroupFields,
} from '../../fields/page-fields.ts'
import type { PageEntry } from '../../file/project-file.ts'
import { buildReferences, type ResolveReference } from '../../file/references.ts'
import type { PageState } from '../../project-reader.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, matchBy, matchEntries } from '../matching.ts'
import {
  COMPONENT_KEYS,
  findMisplaced,
  listSections,
  type PlacedComponent,
  type PlacedGroup,
  sortInReadingOrder,
} from './page-sections.ts'

/** Groups and components of a page that the file does not name. */
export type UnnamedSections = { pageId: string; slug: string; groups: StoredGroup[]; components: StoredComponent[] }

type PageImport = {
  entry: PageEntry
  place: string
  id: string
  pageState: PageState | null
  findMonitor: ResolveReference
}
/** ids by entry; null: refused */
type EntryIds = Map<object, string | null>

type NewComponent = { entry: object; body: ComponentCreate }

/** Imports the groups and components of one page, in their order. */
export async function importPageSections(run: ImportRun, page: PageImport): Promise<UnnamedSections> {
  const { groups: storedGroups, components: storedComponents } = page.pageState ?? { groups: [], components: [] }
  const { groups, components, order } = listSections(page.entry, page.place)
  const ids: EntryIds = new Map()
  const foundGroups = matchEntries(
    groups.map(({ entry }) => entry),
    storedGroups,
    matchBy('name'),
  )
  for (const [index, group] of groups.entries()) {
    const id = await attempt(run.report, group.place, () => importGroup(run, page, group, foundGroups[index] ?? null))
    ids.set(group.entry, id)
  }
  const rows = storedComponents.map(row => ({ ...row, groupName: findName(storedGroups, row.groupId) }))
  const entries = components.map(({ entry, group }) => ({ ...entry, groupName: group?.name ?? null }))
  const found = matchEntries(entries, rows, ...COMPONENT_KEYS)
  const newComponents: NewComponent[] = []
  for (const [index, component] of components.entries()) {
    const stored = found[index] ?? null
    const id = await attempt(run.report, component.place, () =>
      importComponent(run, page, component, stored, ids, newComponents),
    )
    ids.set(component.entry, id)
  }
  await attempt(run.report, page.place, () => addComponents(run, page, newComponents, ids))
  await arrange(
    run,
    page,
    order.map(entry => ids.get(entry) ?? null),
  )
  const unnamed = { groups: listUnmatched(storedGroups, foundGroups), components: listUnmatched(rows, found) }
  return { pageId: page.id, slug: page.entry.slug, ...unnamed }
}

const findName = (groups: StoredGroup[], id: string | null) => groups.find(group => group.id === id)?.name ?? null

async function importGroup(run: ImportRun, page: PageImport, { entry }: PlacedGroup, stored: StoredGroup | null) {
  const { tx, caller, report, now } = run
  const [misplaced] = findMisplaced(entry)
  if (misplaced)
    throw misplacedError(misplaced, 'is accepted only for a component, and an entry with components is a group')
  const after = toGroupFields(entry)
  const key = `${page.entry.slug} / ${entry.name}`
  const body = { ...after, description: entry.description ?? '' } as { name: string; description: string }
  if (stored === null) {
    const group = await createGroup(tx, caller.projectId, page.id, body, now)
    const fields = describeNewFields(omitDefaults(after, GROUP_DEFAULTS))
    report.changes.push({ action: 'create', resource: 'status_page_group', key, id: null, fields })
    return group.id
  }
  const fields = diffFields(toStoredGroupFields(stored), after, unmasked => unmasked)
  if (recordUpdate(report, { resource: 'status_page_group', key, id: stored.id, fields })) {
    await changeGroup(tx, caller.projectId, page.id, stored.id, body, now)
  }
  return stored.id
}

/** Updates a stored component, or collects a new one in `newComponents` and returns null, because it has no id yet. */
async function importComponent(
  run: ImportRun,
  page: PageImport,
  { entry, group }: PlacedComponent,
  stored: StoredComponent | null,
  ids: EntryIds,
  newComponents: NewComponent[],
): Promise<string | null> {
  const { tx, caller, report, now } = run
  const [misplaced] = group ? [] : findMisplaced(entry)
  if (misplaced) throw misplacedError(misplaced, 'is accepted only for a group, which has components')
  const monitorId = entry.monitor === undefined ? null : page.findMonitor(entry.monitor, 'monitor')
  const groupId = group ? (ids.get(group) ?? null) : null
  if ((entry.monitor !== undefined && monitorId === null) || (group && groupId === null)) return null
  const after = toComponentFields(entry, monitorId, groupId)
  const body = toComponentBody(entry, after)
  const key = `${page.entry.slug} / ${entry.name}`
  const show = createDisplay(run, page)
  if (stored === null) {
    assertNoManualStatus(monitorId !== null, body)
    newComponents.push({ entry, body })
    const fields = describeNewFields(
      omitDefaults({ ...after, monitor: entry.monitor, group: group?.name }, COMPONENT_DEFAULTS),
    )
    report.changes.push({ action: 'create', resource: 'status_page_component', key, id: null, fields })
    return null
  }
  const fields = diffFields(toStoredComponentFields(stored), after, show)
  if (recordUpdate(report, { resource: 'status_page_component', key, id: stored.id, fields })) {
    const { monitor_id, ...others } = body
    // an unchanged monitor is omitted, so that the component keeps one that is archived
    await changeComponent(tx, caller.projectId, page.id, stored.id, 'monitor' in fields ? body : others, now)
  }
  return stored.id
}

async function addComponents(
  { tx, caller, now }: ImportRun,
  page: PageImport,
  newComponents: NewComponent[],
  ids: EntryIds,
): Promise<void> {
  if (newComponents.length === 0) return
  const bodies = newComponents.map(({ body }) => body)
  const components = await createComponents(tx, caller.projectId, page.id, bodies, now)
  for (const [index, { id }] of components.entries()) ids.set(newComponents[index]!.entry, id)
}

/** Keeps a status next to a monitor, so that the action refuses it. */
const toComponentBody = (
  entry: PlacedComponent['entry'],
  { name, description, monitor, group, status }: RecordFields,
) =>
  ({
    ...{ name, description, monitor_id: monitor, group_id: group },
    ...((status ?? entry.status) && { status: entry.status ?? status }),
  }) as ComponentCreate

/** Replaces ids of monitors and groups by their references. */
function createDisplay({ state }: ImportRun, { pageState }: PageImport) {
  const { monitors } = state.names
  const groups = buildReferences(pageState?.groups ?? [])
  return (fields: RecordFields): RecordFields => ({
    ...fields,
    monitor: fields.monitor && (monitors.get(fields.monitor as string) ?? fields.monitor),
    group: fields.group && (groups.get(fields.group as string) ?? fields.group),
  })
}

const misplacedError = (path: string, problem: string) => validationError([{ path, message: `${path} ${problem}` }])

/** Orders the page: entries of the file first, in their order. */
async function arrange(
  { tx, caller, report, now }: ImportRun,
  page: PageImport,
  ids: (string | null)[],
): Promise<void> {
  const [groups, components] = [await listPageGroups(tx, page.id), await listPageComponents(tx, page.id)]
  const before = sortInReadingOrder(groups, components)
  const named = ids.filter(id => id !== null)
  const wanted = [...named, ...before.filter(id => !named.includes(id))]
  const after = sortInReadingOrder(...renumber(wanted, groups, components))
  if (`${before}` === `${after}`) return
  if (page.pageState !== null) {
    const names = new Map([...groups, ...components].map(({ id, name }) => [id, name]))
    const shown = (order: string[]) => order.map(id => names.get(id))
    const fields = { order: { from: shown(before), to: shown(after) } }
    report.changes.push({ action: 'update', resource: 'status_page', key: page.entry.slug, id: page.id, fields })
  }
  await arrangePage(tx, caller.projectId, page.id, wanted, now)
}

function renumber(wanted: string[], groups: StoredGroup[], components: StoredComponent[]) {
  const places = new Map(wanted.map((id, displayOrder) => [id, { displayOrder }]))
  return [
    groups.map(group => ({ ...group, ...places.get(group.id) })),
    components.map(component => ({ ...component, ...places.get(component.id) })),
  ] as const
}
