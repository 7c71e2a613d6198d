import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Egress } from '../../shared/egress/index.ts'
import type { Limits } from '../accounts/plans.ts'
import { now } from '../platform/clock.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { metaOf, metaOfAll, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, Id, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changeSource, createSource, deleteSource } from './actions.ts'
import { type ReadContext, readSource, readSources } from './reader.ts'
import { SourceRecord } from './record.ts'
import { SourceCreate, SourceUpdate } from './schema.ts'
import { listSources } from './store.ts'

export type SourceContext = ReadContext & { egress: Egress; publicUrl: string; limits?: Limits }

const tags = ['Data sources']
const IdAnswer = dataOf(Type.Object({ id: Id }))

/** Data sources as a resource (specification, "Data source" and "Data sources"; decisions 9.1). */
export function sourceRoutes(app: App, context: SourceContext): void {
  readRoutes(app, context)
  writeRoutes(app, context)
}

function readRoutes(app: App, context: SourceContext): void {
  const { db } = context
  app.get(
    '/data-sources',
    {
      schema: {
        summary: 'List data sources with their fields, newest first; all of them unless a page is asked for',
        tags,
        querystring: PageQuery,
        response: answers(200, pageSchema(SourceRecord), 400),
      },
    },
    async request => {
      const { page, per_page } = request.query
      const isPaged = page !== undefined || per_page !== undefined
      const { projectId } = callerOf(request)
      const { sources, total } = await listSources(db, projectId, isPaged ? pageOf(request.query) : null)
      const data = await readSources(context, sources)
      return { data, meta: isPaged ? metaOf(request.query, total) : metaOfAll(total) }
    },
  )

  app.get(
    '/data-sources/:id',
    {
      schema: { summary: 'One data source', tags, params: IdParams, response: answers(200, dataOf(SourceRecord), 404) },
    },
    async request => ({ data: await readSource(context, callerOf(request).projectId, request.params.id) }),
  )
}

function writeRoutes(app: App, context: SourceContext): void {
  const toolsFor = (request: FastifyRequest) => ({
    ...context,
    db: actingAs(context.db, request),
    checkLiteral: context.egress.checkLiteral,
  })

  app.post(
    '/data-sources',
    {
      schema: {
        summary: 'Create a data source; it is fetched at once',
        tags,
        body: SourceCreate,
        response: answers(201, IdAnswer, 400, 402),
      },
    },
    async (request, reply) => {
      const id = await createSource(toolsFor(request), callerOf(request), request.body, now())
      return reply.code(201).send({ data: { id } })
    },
  )

  app.put(
    '/data-sources/:id',
    {
      schema: {
        summary: 'Change a data source; fields that are named replace its own, matched by id',
        tags,
        params: IdParams,
        body: SourceUpdate,
        response: answers(200, IdAnswer, 400, 404),
      },
    },
    async request => ({
      data: { id: await changeSource(toolsFor(request), callerOf(request), request.params.id, request.body, now()) },
    }),
  )

  app.delete(
    '/data-sources/:id',
    {
      schema: {
        summary: 'Delete a data source with its monitors',
        tags,
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      await deleteSource(toolsFor(request), callerOf(request).projectId, id, now())
      return { data: { id, deleted: true as const } }
    },
  )
}
