import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { dataSchema, responseSchemas } from '../../foundation/web/validation/schemas.ts'
import { SettingsRecord, SettingsUpdate } from './schemas.ts'
import { changeSettings } from './settings-actions.ts'
import { readSettings } from './settings-store.ts'

const tags = ['Alerts']

/** Alert settings of a project: digests and the person on call (docs/design/alerting.md#settings). */
export function settingsRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/alerts/settings',
    { schema: { summary: 'Get the alert settings', tags, response: responseSchemas(200, dataSchema(SettingsRecord)) } },
    async request => ({ data: await readSettings(db, getCaller(request).projectId) }),
  )

  app.put(
    '/alerts/settings',
    {
      schema: {
        summary: 'Update the alert settings',
        description: 'Omitted fields are not changed.',
        tags,
        body: SettingsUpdate,
        response: responseSchemas(200, dataSchema(SettingsRecord), 400, 404),
      },
    },
    async request => ({
      data: await changeSettings(withRequestActor(db, request), getCaller(request).projectId, request.body, now()),
    }),
  )
}
