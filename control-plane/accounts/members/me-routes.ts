import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { getCaller, SCOPE_ROLES, SCOPES } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { dataSchema, Id, nullable, responseSchemas, stringEnum } from '../../foundation/web/validation/schemas.ts'
import { PLANS } from '../plans/plans.ts'
import { findMe } from './me-store.ts'
import { MEMBER_ROLES } from './role.ts'

const Named = Type.Object({ id: Id, name: Type.String() })

const Me = Type.Object(
  {
    user: nullable(Type.Object({ id: Id, email: Type.String(), name: nullable(Type.String()) }), {
      description: 'The person who is signed in. Null for an API key.',
    }),
    api_key: nullable(Named, { description: 'The API key of the request. Null for a person who is signed in.' }),
    organization: Type.Object({ ...Named.properties, plan: stringEnum(PLANS) }),
    project: Named,
    scope: stringEnum(SCOPES),
    role: stringEnum(MEMBER_ROLES),
    is_operator: Type.Boolean({ description: 'The project is the operator project.' }),
  },
  { title: 'Me' },
)

/** `GET /me`: the caller, the tenant and what the caller may do. */
export function meRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/me',
    {
      schema: {
        tags: ['Accounts'],
        summary: 'Get the caller, its project and its permissions',
        response: responseSchemas(200, dataSchema(Me)),
      },
    },
    async request => {
      const { projectId, keyId, scope, isOperator, actor } = getCaller(request)
      const isPerson = actor.kind === 'user'
      const me = found(await findMe(db, projectId, isPerson ? actor.id : null), 'project')
      return {
        data: {
          user: me.user,
          api_key: isPerson ? null : { id: keyId, name: actor.name },
          organization: me.organization,
          project: me.project,
          scope,
          role: SCOPE_ROLES[scope],
          is_operator: isOperator,
        },
      }
    },
  )
}
