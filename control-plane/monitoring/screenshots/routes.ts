import { Type } from 'typebox'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { listRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, responseSchemas } from '../../foundation/web/validation/schemas.ts'
import { findMonitor } from '../monitors/store.ts'
import { acceptBaseline } from './actions.ts'
import { ScreenshotRecord, toScreenshotResponse } from './screenshot-record.ts'
import { buildScreenshotUrl } from './signed-link.ts'
import { listScreenshots } from './store.ts'

type ScreenshotContext = { db: Db; nats: Nats; publicUrl: string; sign: Signer }

const REGIONS = 'The regions that have a baseline. In the other regions the next comparison becomes the baseline.'

/** `GET /monitors/{id}/screenshots`, `POST /monitors/{id}/screenshots/baseline`. */
export function screenshotRoutes(app: App, { db, nats, publicUrl, sign }: ScreenshotContext): void {
  listRoute(app, '/monitors/:id/screenshots', {
    summary: 'List screenshots of a monitor, newest first',
    tags: ['Monitors'],
    record: ScreenshotRecord,
    list: async (request, bounds) => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      await assertOwnMonitor(db, projectId, id)
      const { rows, total } = await listScreenshots(db, projectId, id, bounds)
      const data = rows.map(row => toScreenshotResponse(row, buildScreenshotUrl(publicUrl, row, now(), sign)))
      return { data, total }
    },
  })

  app.post(
    '/monitors/:id/screenshots/baseline',
    {
      schema: {
        summary: 'Accept the latest screenshot as the new baseline',
        tags: ['Monitors'],
        params: IdParams,
        response: responseSchemas(
          200,
          dataSchema(Type.Object({ regions: Type.Array(Type.String(), { description: REGIONS }) })),
          404,
        ),
      },
    },
    async request => {
      const { id } = request.params
      await assertOwnMonitor(db, getCaller(request).projectId, id)
      const regions = await acceptBaseline({ db: withRequestActor(db, request), nats }, id)
      return { data: { regions } }
    },
  )
}

async function assertOwnMonitor(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id) || !(await findMonitor(db, projectId, id))) throw notFound('monitor')
}
