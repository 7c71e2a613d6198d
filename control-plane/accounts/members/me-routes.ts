import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller, SCOPE_ROLES, SCOPES } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { conflict, found, unauthorized } from '../../foundation/web/server/errors.ts'
import {
  dataSchema,
  Id,
  nullable,
  responseSchemas,
  strictObject,
  stringEnum,
} from '../../foundation/web/validation/schemas.ts'
import { PLANS } from '../plans/plans.ts'
import { DEFAULT_PREFERENCES, DENSITIES, findMe, savePreferences, THEMES } from './me-store.ts'
import { MEMBER_ROLES } from './role.ts'

const preferences = {
  theme: stringEnum(THEMES),
  density: stringEnum(DENSITIES),
  keyboard_shortcuts: Type.Boolean({ description: 'Whether keys without Ctrl or Cmd do something.' }),
  time_zone: nullable(Type.String({ maxLength: 100, format: 'time-zone' }), {
    description: 'Name of the IANA time zone database in which times are shown. Null: that of the browser.',
  }),
}
const PreferencesRecord = Type.Object(preferences, { title: 'Preferences' })
const PreferencesUpdate = strictObject({
  theme: Type.Optional(preferences.theme),
  density: Type.Optional(preferences.density),
  keyboard_shortcuts: Type.Optional(preferences.keyboard_shortcuts),
  time_zone: Type.Optional(preferences.time_zone),
})

const Named = Type.Object({ id: Id, name: Type.String() })

const Me = Type.Object(
  {
    user: nullable(Type.Object({ id: Id, email: Type.String(), name: nullable(Type.String()) }), {
      description: 'The person who is signed in. Null for an API key.',
    }),
    api_key: nullable(Named, { description: 'The API key of the request. Null for a person who is signed in.' }),
    preferences: nullable(PreferencesRecord, {
      description: 'How the person wants to see the dashboard. Null for an API key.',
    }),
    organization: Type.Object({ ...Named.properties, plan: stringEnum(PLANS) }),
    project: Named,
    scope: stringEnum(SCOPES),
    role: stringEnum(MEMBER_ROLES),
    is_operator: Type.Boolean({ description: 'The project is the operator project.' }),
  },
  { title: 'Me' },
)

/** `GET /me`: the caller, the tenant and what the caller may do. `PUT /me/preferences`: how a person sees the dashboard. */
export function meRoutes(app: App, { db }: { db: Db }): void {
  preferencesRoute(app, db)
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
          preferences: me.user && (me.preferences ?? DEFAULT_PREFERENCES),
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

function preferencesRoute(app: App, db: Db): void {
  app.put(
    '/me/preferences',
    {
      config: { personScope: 'read' },
      schema: {
        tags: ['Accounts'],
        summary: 'Update the preferences of the person who is signed in',
        description: 'Omitted fields stay the same. An API key has no preferences: 409.',
        body: PreferencesUpdate,
        response: responseSchemas(200, dataSchema(PreferencesRecord), 400, 409),
      },
    },
    async request => {
      const { actor } = getCaller(request)
      if (actor.kind !== 'user' || actor.id === null)
        throw conflict('preferences belong to a person who is signed in; an API key has none')
      const saved = await savePreferences(withRequestActor(db, request), actor.id, request.body, now())
      if (!saved) throw unauthorized('the account of this session was deleted; sign in again')
      return { data: saved }
    },
  )
}
