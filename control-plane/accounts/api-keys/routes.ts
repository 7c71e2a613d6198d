import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller, SCOPES } from '../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { Id, Name, nullable, strictObject, stringEnum, Timestamp } from '../../foundation/web/validation/schemas.ts'
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
  listRoute(app, '/api-keys', {
    config,
    summary: 'List API keys',
    tags,
    record: ApiKey,
    errors: [],
    list: async (request, bounds) => {
      const { rows, total } = await listApiKeys(db, getCaller(request).projectId, bounds)
      return { data: rows, total }
    },
  })

  createRoute(app, '/api-keys', {
    config,
    summary: 'Create an API key',
    tags,
    body: strictObject({ name: Name, scope: stringEnum(SCOPES) }),
    record: CreatedApiKey,
    errors: [400, 402],
    create: request => createKeyAs(withRequestActor(db, request), getCaller(request), request.body, limits),
  })

  deleteRoute(app, '/api-keys/:id', {
    config,
    summary: 'Delete an API key',
    description: 'The key stops working within 5 seconds.',
    tags,
    errors: [404, 409],
    remove: request => deleteApiKey(withRequestActor(db, request), getCaller(request).projectId, request.params.id),
  })
}
