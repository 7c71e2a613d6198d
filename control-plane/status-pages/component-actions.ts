import { holdMonitors } from '../alerts/store.ts'
import { monitorsOfIds } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { isId, newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { conflict, notFound, validationError } from '../web/errors.ts'
import { namesNothing } from '../web/names-nothing.ts'
import {
  componentsOfPage,
  findComponent,
  placesOf,
  removeComponent,
  saveComponent,
  storePlaces,
} from './component-store.ts'
import { findGroup } from './group-store.ts'
import { inPage } from './hold-actions.ts'
import { arranged, placeAtEnd, reordered } from './order.ts'
import type { ShownMonitor, StoredComponent } from './records.ts'
import type { ComponentCreate, ComponentUpdate } from './schema.ts'

/** What visitors load at once. */
const MOST_COMPONENTS = 500

/**
 * Puts a component on a page. Throws 404 for a page, monitor or group that there is not, 400 for a status beside a
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

/** All of some components, one behind the other, or none. Throws as `createComponent` does. */
export function createComponents(
  db: Db,
  projectId: string,
  pageId: string,
  bodies: ComponentCreate[],
  now: Date,
): Promise<StoredComponent[]> {
  for (const body of bodies) refuseSaidTwice(body.monitor_id != null, body)
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    const places = await placesOf(tx, page.id)
    const monitorIds = bodies.flatMap(({ monitor_id }) => monitor_id ?? [])
    const monitors = await monitorsOf(tx, projectId, monitorIds)
    const groups = new Map<string, string | null>()
    for (const id of new Set(bodies.flatMap(({ group_id }) => group_id ?? []))) {
      groups.set(id, await groupOf(tx, page.id, id))
    }
    const components = bodies.map((body, index) => {
      const monitor = monitors.get(body.monitor_id?.toLowerCase() ?? '') ?? null
      return {
        id: newId(),
        pageId: page.id,
        groupId: groups.get(body.group_id ?? '') ?? null,
        name: body.name,
        description: body.description ?? null,
        monitor,
        displayOrder: body.display_order ?? placeAtEnd(places) + index,
        status: body.status ?? (monitor ? ('unknown' as const) : ('operational' as const)),
        createdAt: now,
        updatedAt: now,
      }
    })
    refuseTooMany(places, components.length)
    for (const component of components) await saveComponent(tx, component)
    return components
  })
}

/**
 * Puts a component at the end of a page for each of some monitors of the project that has none there, in their order.
 * Answers the new components' ids. Throws 404 for a page or group that there is not, 409 when the page would be too full.
 */
export function addMonitorComponents(
  db: Db,
  projectId: string,
  { pageId, groupId }: { pageId: string; groupId: string | null },
  monitorIds: string[],
  now: Date,
): Promise<string[]> {
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    const group = await groupOf(tx, page.id, groupId)
    const places = await placesOf(tx, page.id)
    const there = new Set((await componentsOfPage(tx, page.id)).map(({ monitor }) => monitor?.id))
    const missing = monitorIds.filter(id => !there.has(id))
    refuseTooMany(places, missing.length)
    await holdMonitors(tx, projectId, missing)
    const found = new Map((await monitorsOfIds(tx, missing)).map(monitor => [monitor.id, monitor]))
    const monitors = missing.flatMap(id => found.get(id) ?? [])
    const components = monitors.map((monitor, i) => ({
      ...{ id: newId(), pageId: page.id, groupId: group, name: monitor.name, description: null },
      ...{ monitor: shownOf(monitor), displayOrder: placeAtEnd(places) + i, status: 'unknown' as const },
      ...{ createdAt: now, updatedAt: now },
    }))
    for (const component of components) await saveComponent(tx, component)
    return components.map(({ id }) => id)
  })
}

/** Changes what the body names. Throws as `createComponent` does, and 404 for a component that the page has not. */
export function changeComponent(
  db: Db,
  projectId: string,
  pageId: string,
  id: string,
  body: ComponentUpdate,
  now: Date,
): Promise<StoredComponent> {
  return inPage(db, projectId, pageId, namesNothing(body) ? null : now, async (tx, page) => {
    const before = isId(id) ? await findComponent(tx, page.id, id) : null
    if (!before) throw notFound('component')
    if (namesNothing(body)) return before
    const monitor = body.monitor_id === undefined ? before.monitor : await monitorOf(tx, projectId, body.monitor_id)
    refuseSaidTwice(monitor !== null, body)
    const component = {
      ...before,
      name: body.name ?? before.name,
      description: body.description === undefined ? before.description : body.description,
      groupId: body.group_id === undefined ? before.groupId : await groupOf(tx, page.id, body.group_id),
      monitor,
      displayOrder: body.display_order ?? before.displayOrder,
      status: monitor ? ('unknown' as const) : (body.status ?? before.status),
      updatedAt: now,
    }
    await saveComponent(tx, component)
    return component
  })
}

/** Throws 404. */
export function deleteComponent(db: Db, projectId: string, pageId: string, id: string, now: Date): Promise<void> {
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    if (!isId(id) || !(await removeComponent(tx, page.id, id))) throw notFound('component')
  })
}

/** Lets components of a page change places among themselves. Throws 404 for one that the page has not. */
export function reorderComponents(db: Db, projectId: string, pageId: string, ids: string[], now: Date): Promise<void> {
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    const wanted = [...new Set(ids.map(id => id.toLowerCase()))]
    const places = await placesOf(tx, page.id)
    const known = new Set(places.filter(({ isComponent }) => isComponent).map(({ id }) => id))
    if (!wanted.every(id => known.has(id))) throw notFound('component')
    await storePlaces(tx, page.id, reordered(places, wanted), now)
  })
}

/** Numbers all that stands on a page in the order of `ids`; what is not named comes behind it. Throws 404 for the page. */
export function arrangePage(db: Db, projectId: string, pageId: string, ids: string[], now: Date): Promise<void> {
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    await storePlaces(tx, page.id, arranged(await placesOf(tx, page.id), ids), now)
  })
}

function refuseTooMany(places: { isComponent: boolean }[], adding: number): void {
  if (places.filter(({ isComponent }) => isComponent).length + adding <= MOST_COMPONENTS) return
  throw conflict(`a status page shows at most ${MOST_COMPONENTS} components`)
}

/** Throws 400 for a status beside a monitor. */
export function refuseSaidTwice(hasMonitor: boolean, body: ComponentUpdate): void {
  if (!hasMonitor || body.status === undefined) return
  const message = 'status is what the monitor says; leave it out, or set monitor_id to null'
  throw validationError([{ path: 'status', message }])
}

async function monitorOf(tx: Tx, projectId: string, id: string | null): Promise<ShownMonitor | null> {
  if (id === null) return null
  return (await monitorsOf(tx, projectId, [id])).get(id.toLowerCase()) ?? null
}

/** By their ids; they keep their rows until the transaction ends. Throws 404 for one that the project has not. */
async function monitorsOf(tx: Tx, projectId: string, ids: string[]): Promise<Map<string, ShownMonitor>> {
  if (!ids.every(isId) || !(await holdMonitors(tx, projectId, ids))) throw notFound('monitor')
  const monitors = ids.length === 0 ? [] : await monitorsOfIds(tx, ids)
  return new Map(monitors.map(monitor => [monitor.id, shownOf(monitor)]))
}

const shownOf = ({ id, status, isPaused, statusChangedAt }: StoredMonitor): ShownMonitor => ({
  ...{ id, status, isPaused },
  changedAt: statusChangedAt?.toISOString() ?? null,
})

async function groupOf(tx: Tx, pageId: string, id: string | null): Promise<string | null> {
  if (id === null) return null
  const group = isId(id) ? await findGroup(tx, pageId, id) : null
  if (!group) throw notFound('group')
  return group.id
}
