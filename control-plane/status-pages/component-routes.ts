import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changeComponent, createComponent, deleteComponent, reorderComponents } from './component-actions.ts'
import { componentsOfPage, findComponent, listComponents } from './component-store.ts'
import { pageIdOf } from './hold-actions.ts'
import { presentComponent } from './present.ts'
import { ComponentCreate, ComponentOrder, ComponentRecord, ComponentUpdate } from './schema.ts'

const tags = ['Status pages']
const params = Type.Object({ id: Type.String(), cid: Type.String() })

/** What stands on a status page (specification, "Status page component"; decisions 7.1). */
export function componentRoutes(app: App, { db }: { db: Db }): void {
  readRoutes(app, db)
  createRoute(app, db)
  orderRoute(app, db)
  changeRoutes(app, db)
}

function readRoutes(app: App, db: Db): void {
  app.get(
    '/status-pages/:id/components',
    {
      schema: {
        summary: 'List the components of a status page, in their order',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, pageSchema(ComponentRecord), 400, 404),
      },
    },
    async request => {
      const pageId = await pageIdOf(db, callerOf(request).projectId, request.params.id)
      const { components, total } = await listComponents(db, pageId, pageOf(request.query))
      return { data: components.map(presentComponent), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/status-pages/:id/components/:cid',
    { schema: { summary: 'One component', tags, params, response: answers(200, dataOf(ComponentRecord), 404) } },
    async request => {
      const { id, cid } = request.params
      const pageId = await pageIdOf(db, callerOf(request).projectId, id)
      const component = isId(cid) ? await findComponent(db, pageId, cid) : null
      if (!component) throw notFound('component')
      return { data: presentComponent(component) }
    },
  )
}

function createRoute(app: App, db: Db): void {
  app.post(
    '/status-pages/:id/components',
    {
      schema: {
        summary: 'Put a component on a status page: a monitor, or something whose status is set by hand',
        tags,
        params: IdParams,
        body: ComponentCreate,
        response: answers(201, dataOf(ComponentRecord), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const { projectId } = callerOf(request)
      const component = await createComponent(actingAs(db, request), projectId, request.params.id, request.body, now())
      return reply.code(201).send({ data: presentComponent(component) })
    },
  )
}

function orderRoute(app: App, db: Db): void {
  app.put(
    '/status-pages/:id/components/reorder',
    {
      schema: {
        summary: 'Put components into another order',
        tags,
        params: IdParams,
        body: ComponentOrder,
        response: answers(200, dataOf(Type.Array(ComponentRecord)), 400, 404),
      },
    },
    async request => {
      const { id } = request.params
      await reorderComponents(actingAs(db, request), callerOf(request).projectId, id, request.body.component_ids, now())
      return { data: (await componentsOfPage(db, id)).map(presentComponent) }
    },
  )
}

function changeRoutes(app: App, db: Db): void {
  app.put(
    '/status-pages/:id/components/:cid',
    {
      schema: {
        summary: 'Change a component: fields that are not named stay',
        tags,
        params,
        body: ComponentUpdate,
        response: answers(200, dataOf(ComponentRecord), 400, 404),
      },
    },
    async request => {
      const { id, cid } = request.params
      const component = await changeComponent(
        actingAs(db, request),
        callerOf(request).projectId,
        id,
        cid,
        request.body,
        now(),
      )
      return { data: presentComponent(component) }
    },
  )

  app.delete(
    '/status-pages/:id/components/:cid',
    {
      schema: {
        summary: 'Take a component off a status page',
        tags,
        params,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id, cid } = request.params
      await deleteComponent(actingAs(db, request), callerOf(request).projectId, id, cid, now())
      return { data: { id: cid, deleted: true as const } }
    },
  )
}
