import { Type } from 'typebox'
import type { Db } from '../../platform/postgres.ts'
import { actingAs } from '../../web/acting.ts'
import type { App } from '../../web/app.ts'
import { callerOf, SCOPES } from '../../web/auth.ts'
import { metaOf, pageOf } from '../../web/pages.ts'
import {
  answers,
  DeletedResponse,
  dataOf,
  enumOf,
  Id,
  IdParams,
  Name,
  nullable,
  PageQuery,
  pageOf as pageSchema,
  strictObject,
  Timestamp,
} from '../../web/schemas.ts'
import type { Limits } from '../plans.ts'
import { createKeyAs, deleteApiKey } from './actions.ts'
import { listApiKeys } from './store.ts'

const ApiKey = Type.Object({
  id: Id,
  name: Type.String(),
  scope: enumOf(SCOPES),
  hint: Type.String({ description: 'the beginning and the end of the key' }),
  created_by: nullable(Id),
  last_used_at: nullable(Timestamp),
  suspended_at: nullable(Timestamp, {
    description: 'since then it is refused with `api_key_suspended`, until an admin keeps or ends it in the browser',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const CreatedApiKey = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: 'shown here and never again' }),
})

const tags = ['API keys']
const config = { scope: 'admin' } as const

/** `GET|POST /api-keys`, `DELETE /api-keys/{id}`, for admin keys (decisions 2.2). */
export function apiKeyRoutes(app: App, { db, limits }: { db: Db; limits: Limits }): void {
  app.get(
    '/api-keys',
    {
      config,
      schema: { tags, summary: 'List API keys', querystring: PageQuery, response: answers(200, pageSchema(ApiKey)) },
    },
    async request => {
      const { rows, total } = await listApiKeys(db, callerOf(request).projectId, pageOf(request.query))
      return { data: rows, meta: metaOf(request.query, total) }
    },
  )

  app.post(
    '/api-keys',
    {
      config,
      schema: {
        tags,
        summary: 'Create an API key',
        body: strictObject({ name: Name, scope: enumOf(SCOPES) }),
        response: answers(201, dataOf(CreatedApiKey), 400, 402),
      },
    },
    async (request, reply) =>
      reply.code(201).send({ data: await createKeyAs(actingAs(db, request), callerOf(request), request.body, limits) }),
  )

  app.delete(
    '/api-keys/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Delete an API key; it stops working within 5 seconds',
        params: IdParams,
        response: answers(200, DeletedResponse, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      await deleteApiKey(actingAs(db, request), callerOf(request).projectId, id)
      return { data: { id, deleted: true as const } }
    },
  )
}
