import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { answers, dataOf } from '../web/schemas.ts'
import { SettingsRecord, SettingsUpdate } from './schema.ts'
import { changeSettings } from './settings-actions.ts'
import { readSettings } from './settings-store.ts'

const tags = ['Alerts']

/** When many changes of a project are told in one message. */
export function settingsRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/alerts/settings',
    { schema: { summary: 'How alerts are sent', tags, response: answers(200, dataOf(SettingsRecord)) } },
    async request => ({ data: await readSettings(db, callerOf(request).projectId) }),
  )

  app.put(
    '/alerts/settings',
    {
      schema: {
        summary: 'Change how alerts are sent: fields that are not named stay',
        tags,
        body: SettingsUpdate,
        response: answers(200, dataOf(SettingsRecord), 400, 404),
      },
    },
    async request => ({
      data: await changeSettings(actingAs(db, request), callerOf(request).projectId, request.body, now()),
    }),
  )
}
