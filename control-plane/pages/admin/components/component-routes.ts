import { Type } from 'typebox'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { deleteRoute, listRoute, readRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { findComponent, listComponents, listPageComponents } from '../../core/component-store.ts'
import { getPageId } from '../page-lock-actions.ts'
import { toComponentResponse } from '../responses.ts'
import { ComponentCreate, ComponentOrder, ComponentRecord, ComponentUpdate } from '../schema.ts'
import { changeComponent, createComponent, deleteComponent, reorderComponents } from './component-actions.ts'

const tags = ['Status pages']
const params = Type.Object({ id: Type.String(), cid: Type.String() })

/** Components of status pages (docs/design/status-pages.md#components). */
export function componentRoutes(app: App, { db }: { db: Db }): void {
  readRoutes(app, db)
  createRoute(app, db)
  orderRoute(app, db)
  changeRoutes(app, db)
}

function readRoutes(app: App, db: Db): void {
  listRoute(app, '/status-pages/:id/components', {
    summary: 'List the components of a status page in display order',
    tags,
    record: ComponentRecord,
    list: async (request, bounds) => {
      const pageId = await getPageId(db, getCaller(request).projectId, request.params.id)
      const { components, total } = await listComponents(db, pageId, bounds)
      return { data: components.map(toComponentResponse), total }
    },
  })

  readRoute(app, '/status-pages/:id/components/:cid', {
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

function createRoute(app: App, db: Db): void {
  app.post(
    '/status-pages/:id/components',
    {
      schema: {
        summary: 'Create a component',
        description:
          'Adds a component to a status page. Its status follows the monitor. Without a monitor, it is set manually.',
        tags,
        params: IdParams,
        body: ComponentCreate,
        response: responseSchemas(201, dataSchema(ComponentRecord), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const { projectId } = getCaller(request)
      const component = await createComponent(
        withRequestActor(db, request),
        projectId,
        request.params.id,
        request.body,
        now(),
      )
      return reply.code(201).send({ data: toComponentResponse(component) })
    },
  )
}

function orderRoute(app: App, db: Db): void {
  app.put(
    '/status-pages/:id/components/reorder',
    {
      schema: {
        summary: 'Reorder components',
        description: 'The given components exchange their positions. All other items keep theirs.',
        tags,
        params: IdParams,
        body: ComponentOrder,
        response: responseSchemas(200, dataSchema(Type.Array(ComponentRecord)), 400, 404),
      },
    },
    async request => {
      const { id } = request.params
      await reorderComponents(
        withRequestActor(db, request),
        getCaller(request).projectId,
        id,
        request.body.component_ids,
        now(),
      )
      return { data: (await listPageComponents(db, id)).map(toComponentResponse) }
    },
  )
}

function changeRoutes(app: App, db: Db): void {
  app.put(
    '/status-pages/:id/components/:cid',
    {
      schema: {
        summary: 'Update a component',
        description: 'Omitted fields keep their values.',
        tags,
        params,
        body: ComponentUpdate,
        response: responseSchemas(200, dataSchema(ComponentRecord), 400, 404),
      },
    },
    async request => {
      const { id, cid } = request.params
      const component = await changeComponent(
        withRequestActor(db, request),
        getCaller(request).projectId,
        id,
        cid,
        request.body,
        now(),
      )
      return { data: toComponentResponse(component) }
    },
  )

  deleteRoute(app, '/status-pages/:id/components/:cid', {
    summary: 'Delete a component',
    tags,
    remove: request => {
      const { id, cid } = request.params
      return deleteComponent(withRequestActor(db, request), getCaller(request).projectId, id, cid, now())
    },
  })
}
