import type { Limits } from '../accounts/plans.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changeWindow, createWindow, deleteWindow, type Review } from './actions.ts'
import { presentWindow } from './present.ts'
import { WindowCreate, WindowRecord, WindowUpdate } from './schema.ts'
import { findWindow, listWindows } from './store.ts'

const tags = ['Maintenance windows']

export type MaintenanceContext = { db: Db; review: Review; limits: Limits }

/** Times in which nothing is sent of some monitors and which count apart in their uptime. */
export function maintenanceRoutes(app: App, context: MaintenanceContext): void {
  readRoutes(app, context.db)
  writeRoutes(app, context)
}

function readRoutes(app: App, db: Db): void {
  app.get(
    '/maintenance-windows',
    {
      schema: {
        summary: 'List maintenance windows, newest first',
        tags,
        querystring: PageQuery,
        response: answers(200, pageSchema(WindowRecord), 400),
      },
    },
    async request => {
      const { windows, total } = await listWindows(db, callerOf(request).projectId, pageOf(request.query))
      const at = now()
      return { data: windows.map(window => presentWindow(window, at)), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/maintenance-windows/:id',
    {
      schema: {
        summary: 'One maintenance window',
        tags,
        params: IdParams,
        response: answers(200, dataOf(WindowRecord), 404),
      },
    },
    async request => {
      const { id } = request.params
      const window = isId(id) ? await findWindow(db, callerOf(request).projectId, id) : null
      if (!window) throw notFound('maintenance window')
      return { data: presentWindow(window, now()) }
    },
  )
}

function writeRoutes(app: App, context: MaintenanceContext): void {
  app.post(
    '/maintenance-windows',
    {
      schema: {
        summary: 'Keep monitors silent: once from starts_at to ends_at, or again and again with cron',
        tags,
        body: WindowCreate,
        response: answers(201, dataOf(WindowRecord), 400, 402, 404),
      },
    },
    async (request, reply) => {
      const at = now()
      const window = await createWindow(toolsActingAs(context, request), callerOf(request).projectId, request.body, at)
      return reply.code(201).send({ data: presentWindow(window, at) })
    },
  )

  app.put(
    '/maintenance-windows/:id',
    {
      schema: {
        summary: 'Change a maintenance window: fields that are not named stay',
        tags,
        params: IdParams,
        body: WindowUpdate,
        response: answers(200, dataOf(WindowRecord), 400, 402, 404),
      },
    },
    async request => {
      const at = now()
      const window = await changeWindow(
        toolsActingAs(context, request),
        callerOf(request).projectId,
        request.params.id,
        request.body,
        at,
      )
      return { data: presentWindow(window, at) }
    },
  )

  app.delete(
    '/maintenance-windows/:id',
    {
      schema: {
        summary: 'Delete a maintenance window; a period that runs ends now',
        tags,
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      await deleteWindow(toolsActingAs(context, request), callerOf(request).projectId, id, now())
      return { data: { id, deleted: true as const } }
    },
  )
}
