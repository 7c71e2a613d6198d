import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, metaOfAll, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changeField, createField, deleteField, type FieldTools } from './field-actions.ts'
import { childMonitorsOf, fieldsOfSources } from './field-store.ts'
import { presentField, presentFields } from './present.ts'
import { FieldRecord } from './record.ts'
import { FieldCreate, FieldUpdate } from './schema.ts'
import { findSource } from './store.ts'
import type { StoredField } from './types.ts'

const tags = ['Data sources']
const params = Type.Object({ id: Type.String(), field_id: Type.String() })

/** What is looked for in a data source (specification, "Data source field"; decisions 9.1). */
export function fieldRoutes(app: App, tools: FieldTools): void {
  listRoute(app, tools.db)
  writeRoutes(app, tools)
}

function listRoute(app: App, db: Db): void {
  app.get(
    '/data-sources/:id/fields',
    {
      schema: {
        summary: 'List the fields of a data source, in their order; all of them unless a page is asked for',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, pageSchema(FieldRecord), 400, 404),
      },
    },
    async request => {
      const { id } = request.params
      const source = isId(id) ? await findSource(db, callerOf(request).projectId, id) : null
      if (!source) throw notFound('data source')
      const fields = await fieldsOfSources(db, [source.id])
      const data = presentFields(fields, await childMonitorsOf(db, [source.id]))
      const { page, per_page } = request.query
      if (page === undefined && per_page === undefined) return { data, meta: metaOfAll(data.length) }
      const { limit, offset } = pageOf(request.query)
      return { data: data.slice(offset, offset + limit), meta: metaOf(request.query, data.length) }
    },
  )
}

function writeRoutes(app: App, tools: FieldTools): void {
  const answer = async (field: StoredField) => {
    const children = await childMonitorsOf(tools.db, [field.dataSourceId])
    return {
      data: presentField(
        field,
        children.filter(({ fieldId }) => fieldId === field.id),
      ),
    }
  }

  app.post(
    '/data-sources/:id/fields',
    {
      schema: {
        summary: 'Add a field to a data source, which is fetched at once',
        tags,
        params: IdParams,
        body: FieldCreate,
        response: answers(201, dataOf(FieldRecord), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const { projectId } = callerOf(request)
      const field = await createField(toolsActingAs(tools, request), projectId, request.params.id, request.body, now())
      return reply.code(201).send(await answer(field))
    },
  )

  app.put(
    '/data-sources/:id/fields/:field_id',
    {
      schema: {
        summary: 'Change a field: what is not named stays',
        tags,
        params,
        body: FieldUpdate,
        response: answers(200, dataOf(FieldRecord), 400, 404),
      },
    },
    async request => {
      const { id, field_id } = request.params
      const { projectId } = callerOf(request)
      return answer(await changeField(toolsActingAs(tools, request), projectId, id, field_id, request.body, now()))
    },
  )

  app.delete(
    '/data-sources/:id/fields/:field_id',
    {
      schema: {
        summary: 'Remove a field; its monitors are archived',
        tags,
        params,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id, field_id } = request.params
      await deleteField(toolsActingAs(tools, request), callerOf(request).projectId, id, field_id, now())
      return { data: { id: field_id, deleted: true as const } }
    },
  )
}
