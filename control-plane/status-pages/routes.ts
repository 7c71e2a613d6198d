import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs, toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changePage, createPage, type PageTools } from './page-actions.ts'
import { presentPage } from './present.ts'
import { PageCreate, PageRecord, PageUpdate } from './schema.ts'
import { findPage, listPages, removePage } from './store.ts'

const tags = ['Status pages']

/** Status pages as a resource (specification, "Status pages"; decisions 7.1). */
export function statusPageRoutes(app: App, tools: PageTools): void {
  readRoutes(app, tools)
  writeRoutes(app, tools)
}

function readRoutes(app: App, { db, publicUrl }: { db: Db; publicUrl: string }): void {
  app.get(
    '/status-pages',
    {
      schema: {
        summary: 'List status pages, newest first',
        tags,
        querystring: PageQuery,
        response: answers(200, pageSchema(PageRecord), 400),
      },
    },
    async request => {
      const { pages, total } = await listPages(db, callerOf(request).projectId, pageOf(request.query))
      return { data: pages.map(page => presentPage(page, publicUrl)), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/status-pages/:id',
    {
      schema: { summary: 'One status page', tags, params: IdParams, response: answers(200, dataOf(PageRecord), 404) },
    },
    async request => {
      const { id } = request.params
      const page = isId(id) ? await findPage(db, callerOf(request).projectId, id) : null
      if (!page) throw notFound('status page')
      return { data: presentPage(page, publicUrl) }
    },
  )
}

function writeRoutes(app: App, tools: PageTools): void {
  const { db, publicUrl } = tools
  app.post(
    '/status-pages',
    {
      schema: {
        summary: 'Create a status page, unpublished',
        tags,
        body: PageCreate,
        response: answers(201, dataOf(PageRecord), 400, 402, 409),
      },
    },
    async (request, reply) => {
      const page = await createPage(toolsActingAs(tools, request), callerOf(request), request.body, now())
      return reply.code(201).send({ data: presentPage(page, publicUrl) })
    },
  )

  app.put(
    '/status-pages/:id',
    {
      schema: {
        summary: 'Change a status page: fields that are not named stay',
        tags,
        params: IdParams,
        body: PageUpdate,
        response: answers(200, dataOf(PageRecord), 400, 404),
      },
    },
    async request => {
      const page = await changePage(
        toolsActingAs(tools, request),
        callerOf(request).projectId,
        request.params.id,
        request.body,
        now(),
      )
      return { data: presentPage(page, publicUrl) }
    },
  )

  app.delete(
    '/status-pages/:id',
    {
      schema: {
        summary: 'Delete a status page with everything on it',
        tags,
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await removePage(actingAs(db, request), callerOf(request).projectId, id)))
        throw notFound('status page')
      return { data: { id, deleted: true as const } }
    },
  )
}
