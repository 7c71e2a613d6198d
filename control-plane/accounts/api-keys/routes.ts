import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller, SCOPES } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { buildPageMeta, toPageBounds } from '../../foundation/web/validation/pagination.ts'
import {
  DeletedResponse,
  dataSchema,
  Id,
  IdParams,
  Name,
  nullable,
  PageQuery,
  pageSchema,
  responseSchemas,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import type { InstallationLimits } from '../plans/plans.ts'
import { createKeyAs, deleteApiKey } from './actions.ts'
import { listApiKeys } from './store.ts'

const ApiKey = Type.Object({
  id: Id,
  name: Type.String(),
  scope: stringEnum(SCOPES),
  hint: Type.String({ description: 'First and last characters of the key.' }),
  created_by: nullable(Id),
  last_used_at: nullable(Timestamp),
  suspended_at: nullable(Timestamp, {
    description:
      'Time of the suspension. The key is refused with `api_key_suspended` until an admin keeps or ends it in the browser.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const CreatedApiKey = Type.Object({
  ...ApiKey.properties,
  key: Type.String({ description: 'The full key. It is shown only once.' }),
})

const tags = ['API keys']
const config = { scope: 'admin' } as const

/** `GET|POST /api-keys`, `DELETE /api-keys/{id}`, for admin keys. */
export function apiKeyRoutes(app: App, { db, limits }: { db: Db; limits: InstallationLimits }): void {
  app.get(
    '/api-keys',
    {
      config,
      schema: {
        tags,
        summary: 'List API keys',
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(ApiKey)),
      },
    },
    async request => {
      const { rows, total } = await listApiKeys(db, getCaller(request).projectId, toPageBounds(request.query))
      return { data: rows, meta: buildPageMeta(request.query, total) }
    },
  )

  app.post(
    '/api-keys',
    {
      config,
      schema: {
        tags,
        summary: 'Create an API key',
        body: strictObject({ name: Name, scope: stringEnum(SCOPES) }),
        response: responseSchemas(201, dataSchema(CreatedApiKey), 400, 402),
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send({ data: await createKeyAs(withRequestActor(db, request), getCaller(request), request.body, limits) }),
  )

  app.delete(
    '/api-keys/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Delete an API key',
        description: 'The key stops working within 5 seconds.',
        params: IdParams,
        response: responseSchemas(200, DeletedResponse, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      await deleteApiKey(withRequestActor(db, request), getCaller(request).projectId, id)
      return { data: { id, deleted: true as const } }
    },
  )
}
