import { holdKnownMonitors } from '../../../alerting/routing/rules/rule-actions.ts'
import { holdMonitors } from '../../../alerting/routing/rules/rule-store.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { conflict, found, notFound, validationError } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import { listMonitorsByIds } from '../../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import {
  findComponent,
  listPageComponents,
  listPagePositions,
  removeComponent,
  saveComponents,
  savePagePositions,
} from '../../core/component-store.ts'
import { arrangeItems, getNextDisplayOrder, reorderItems } from '../../core/display-order.ts'
import { findGroup } from '../../core/group-store.ts'
import type { ComponentMonitor, StoredComponent } from '../../core/records.ts'
import { MAX_COMPONENTS } from '../../core/types.ts'
import { removeFromChoices } from '../../subscribers/store.ts'
import { withLockedPage } from '../page-lock-actions.ts'
import type { ComponentCreate, ComponentUpdate } from '../schema.ts'

/**
 * Adds a component to a page. Throws 404 for an unknown page, monitor or group, 400 for a status together with a
 * monitor, 409 when the page is full.
 */
export async function createComponent(
  db: Db,
  projectId: string,
  pageId: string,
  body: ComponentCreate,
  now: Date,
): Promise<StoredComponent> {
  const [component] = await createComponents(db, projectId, pageId, [body], now)
  return component!
}

/** Adds several components in the given order: all of them, or none. Throws the same errors as `createComponent`. */
export function createComponents(
  db: Db,
  projectId: string,
  pageId: string,
  bodies: ComponentCreate[],
  now: Date,
): Promise<StoredComponent[]> {
  for (const body of bodies) assertNoManualStatus(body.monitor_id != null, body)
  return withLockedPage(db, projectId, pageId, now, async (tx, page) =>
    insertComponents(tx, page.id, bodies, await loadComponentMonitors(tx, projectId, bodies), now),
  )
}

/**
 * Adds components in the given order to a page that is locked, or new. The caller has checked the statuses. `monitors`:
 * from `loadComponentMonitors`. Throws 404 for an unknown group, 409 when the page would be too full.
 */
export async function insertComponents(
  tx: Tx,
  pageId: string,
  bodies: ComponentCreate[],
  monitors: ReadonlyMap<string, ComponentMonitor>,
  now: Date,
): Promise<StoredComponent[]> {
  const positions = await listPagePositions(tx, pageId)
  const groups = new Map<string, string | null>()
  for (const id of new Set(bodies.flatMap(({ group_id }) => group_id ?? []))) {
    groups.set(id, await getGroupId(tx, pageId, id))
  }
  const components = bodies.map((body, index) => {
    const monitor = monitors.get(body.monitor_id?.toLowerCase() ?? '') ?? null
    return {
      id: newId(),
      pageId,
      groupId: groups.get(body.group_id ?? '') ?? null,
      name: body.name,
      description: body.description ?? null,
      monitorId: monitor?.id ?? null,
      monitor,
      displayOrder: body.display_order ?? getNextDisplayOrder(positions) + index,
      status: body.status ?? (monitor ? ('unknown' as const) : ('operational' as const)),
      createdAt: now,
      updatedAt: now,
    }
  })
  assertComponentLimit(positions, components.length)
  await saveComponents(tx, components)
  return components
}

/**
 * Adds a component at the end of a page for each of the given monitors that has none on the page, in their order.
 * Returns the ids of the new components. Throws 404 for an unknown page or group, 409 when the page would be too full.
 */
export function addMonitorComponents(
  db: Db,
  projectId: string,
  { pageId, groupId }: { pageId: string; groupId: string | null },
  monitorIds: string[],
  now: Date,
): Promise<string[]> {
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    const group = await getGroupId(tx, page.id, groupId)
    const positions = await listPagePositions(tx, page.id)
    const existing = new Set((await listPageComponents(tx, page.id)).map(({ monitor }) => monitor?.id))
    const missing = monitorIds.filter(id => !existing.has(id))
    assertComponentLimit(positions, missing.length)
    await holdMonitors(tx, projectId, missing)
    const found = new Map((await listMonitorsByIds(tx, missing)).map(monitor => [monitor.id, monitor]))
    const monitors = missing.flatMap(id => found.get(id) ?? [])
    const components = monitors.map((monitor, i) => ({
      ...{ id: newId(), pageId: page.id, groupId: group, name: monitor.name, description: null },
      ...{
        monitorId: monitor.id,
        monitor: toComponentMonitor(monitor),
        displayOrder: getNextDisplayOrder(positions) + i,
        status: 'unknown' as const,
      },
      ...{ createdAt: now, updatedAt: now },
    }))
    await saveComponents(tx, components)
    return components.map(({ id }) => id)
  })
}

/**
 * Changes the fields that the body contains. Throws the same errors as `createComponent`, and 404 for an unknown
 * component.
 */
export function changeComponent(
  db: Db,
  projectId: string,
  pageId: string,
  id: string,
  body: ComponentUpdate,
  now: Date,
): Promise<StoredComponent> {
  return withLockedPage(db, projectId, pageId, isEmptyUpdate(body) ? null : now, async (tx, page) => {
    const before = found(isId(id) && (await findComponent(tx, page.id, id)), 'component')
    if (isEmptyUpdate(body)) return before
    const monitor =
      body.monitor_id === undefined ? before.monitor : await loadComponentMonitor(tx, projectId, body.monitor_id)
    assertNoManualStatus(monitor !== null, body)
    const component = {
      ...before,
      name: body.name ?? before.name,
      description: body.description === undefined ? before.description : body.description,
      groupId: body.group_id === undefined ? before.groupId : await getGroupId(tx, page.id, body.group_id),
      monitorId: body.monitor_id === undefined ? before.monitorId : (monitor?.id ?? null),
      monitor,
      displayOrder: body.display_order ?? before.displayOrder,
      status: monitor ? ('unknown' as const) : (body.status ?? before.status),
      updatedAt: now,
    }
    await saveComponents(tx, [component])
    return component
  })
}

/** Throws 404. */
export function deleteComponent(db: Db, projectId: string, pageId: string, id: string, now: Date): Promise<void> {
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    if (!isId(id) || !(await removeComponent(tx, page.id, id))) throw notFound('component')
    await removeFromChoices(tx, page.id, id, now)
  })
}

/** Exchanges the positions of the given components and groups of a page. Throws 404 for an unknown page or item. */
export function reorderComponents(db: Db, projectId: string, pageId: string, ids: string[], now: Date): Promise<void> {
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    const orderedIds = [...new Set(ids.map(id => id.toLowerCase()))]
    const positions = await listPagePositions(tx, page.id)
    const known = new Set(positions.map(({ id }) => id))
    if (!orderedIds.every(id => known.has(id))) throw notFound('component')
    await savePagePositions(tx, page.id, reorderItems(positions, orderedIds), now)
  })
}

/**
 * Numbers all items of a page in the order of `ids`; items that are not listed follow. Throws 404 for an unknown page.
 */
export function arrangePage(db: Db, projectId: string, pageId: string, ids: string[], now: Date): Promise<void> {
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    await savePagePositions(tx, page.id, arrangeItems(await listPagePositions(tx, page.id), ids), now)
  })
}

function assertComponentLimit(positions: { isComponent: boolean }[], adding: number): void {
  if (positions.filter(({ isComponent }) => isComponent).length + adding <= MAX_COMPONENTS) return
  throw conflict(`a status page can have at most ${MAX_COMPONENTS} components`)
}

/** Throws 400 for a status together with a monitor. `parent`: where the component is in the body, such as `components[0].`. */
export function assertNoManualStatus(hasMonitor: boolean, body: ComponentUpdate, parent = ''): void {
  if (!hasMonitor || body.status === undefined) return
  const message = `${parent}status cannot be set together with monitor_id; omit it, or set monitor_id to null`
  throw validationError([{ path: `${parent}status`, message }])
}

async function loadComponentMonitor(tx: Tx, projectId: string, id: string | null): Promise<ComponentMonitor | null> {
  if (id === null) return null
  return (await loadComponentMonitors(tx, projectId, [{ monitor_id: id }])).get(id.toLowerCase()) ?? null
}

/**
 * The monitors of components, by id. Their rows cannot be deleted until the transaction ends. Throws 404 for an unknown
 * monitor.
 */
export async function loadComponentMonitors(
  tx: Tx,
  projectId: string,
  bodies: readonly Pick<ComponentUpdate, 'monitor_id'>[],
): Promise<Map<string, ComponentMonitor>> {
  const ids = bodies.flatMap(({ monitor_id: id }) => id ?? [])
  await holdKnownMonitors(tx, projectId, ids)
  const monitors = ids.length === 0 ? [] : await listMonitorsByIds(tx, ids)
  return new Map(monitors.map(monitor => [monitor.id, toComponentMonitor(monitor)]))
}

const toComponentMonitor = ({ id, status, isPaused, statusChangedAt }: StoredMonitor): ComponentMonitor => ({
  ...{ id, status, isPaused },
  changedAt: statusChangedAt?.toISOString() ?? null,
})

async function getGroupId(tx: Tx, pageId: string, id: string | null): Promise<string | null> {
  if (id === null) return null
  const group = found(isId(id) && (await findGroup(tx, pageId, id)), 'group')
  return group.id
}
