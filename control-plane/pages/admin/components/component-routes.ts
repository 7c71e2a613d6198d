import { Type } from 'typebox'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import {
  createRoute,
  deleteRoute,
  fullListRoute,
  readRoute,
  updateRoute,
} from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { COMPONENT_VERSION, findComponent, listComponents, listPageComponents } from '../../core/component-store.ts'
import { getPageId } from '../page-lock-actions.ts'
import { toComponentResponse } from '../responses.ts'
import { ComponentCreate, ComponentOrder, ComponentRecord, ComponentUpdate } from '../schema.ts'
import { changeComponent, createComponent, deleteComponent, reorderComponents } from './component-actions.ts'

const tags = ['Status pages']

/** Components of status pages (docs/design/status-pages.md#components). */
export function componentRoutes(app: App, { db }: { db: Db }): void {
  readRoutes(app, db)
  writeRoutes(app, db)
  orderRoute(app, db)
}

function readRoutes(app: App, db: Db): void {
  fullListRoute(app, '/status-pages/:id/components', {
    summary: 'List the components of a status page in display order',
    description: 'All components are listed unless `page` or `per_page` is given.',
    tags,
    record: ComponentRecord,
    list: async (request, bounds) => {
      const pageId = await getPageId(db, getCaller(request).projectId, request.params.id)
      if (bounds === null) {
        const all = await listPageComponents(db, pageId)
        return { data: all.map(toComponentResponse), total: all.length }
      }
      const { components, total } = await listComponents(db, pageId, bounds)
      return { data: components.map(toComponentResponse), total }
    },
  })

  readRoute(app, '/status-pages/:id/components/:cid', {
    version: COMPONENT_VERSION,
    summary: 'Get a component',
    tags,
    record: ComponentRecord,
    read: async request => {
      const { id, cid } = request.params
      const pageId = await getPageId(db, getCaller(request).projectId, id)
      return toComponentResponse(found(isId(cid) && (await findComponent(db, pageId, cid)), 'component'))
    },
  })
}

function writeRoutes(app: App, db: Db): void {
  createRoute(app, '/status-pages/:id/components', {
    version: COMPONENT_VERSION,
    summary: 'Create a component',
    description:
      'Adds a component to a status page. Its status follows the monitor. Without a monitor, it is set manually.',
    tags,
    body: ComponentCreate,
    record: ComponentRecord,
    errors: [400, 404, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      return toComponentResponse(
        await createComponent(withRequestActor(db, request), projectId, id, request.body, now()),
      )
    },
  })

  updateRoute(app, '/status-pages/:id/components/:cid', {
    version: COMPONENT_VERSION,
    summary: 'Update a component',
    description: 'Omitted fields keep their values.',
    tags,
    body: ComponentUpdate,
    record: ComponentRecord,
    update: async request => {
      const { id, cid } = request.params
      const { projectId } = getCaller(request)
      return toComponentResponse(
        await changeComponent(withRequestActor(db, request), projectId, id, cid, request.body, now()),
      )
    },
  })

  deleteRoute(app, '/status-pages/:id/components/:cid', {
    version: COMPONENT_VERSION,
    summary: 'Delete a component',
    tags,
    remove: request => {
      const { id, cid } = request.params
      return deleteComponent(withRequestActor(db, request), getCaller(request).projectId, id, cid, now())
    },
  })
}

function orderRoute(app: App, db: Db): void {
  updateRoute(app, '/status-pages/:id/components/reorder', {
    summary: 'Reorder components',
    description: 'The given components and groups exchange their positions. All other items keep theirs.',
    tags,
    body: ComponentOrder,
    record: Type.Array(ComponentRecord),
    update: async request => {
      const { id } = request.params
      const { component_ids: ids } = request.body
      await reorderComponents(withRequestActor(db, request), getCaller(request).projectId, id, ids, now())
      return (await listPageComponents(db, id)).map(toComponentResponse)
    },
  })
}
