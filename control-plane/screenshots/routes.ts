import { Type } from 'typebox'
import { findMonitor } from '../monitors/store.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import type { Sign } from '../platform/signer.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { acceptBaseline } from './actions.ts'
import { screenshotUrl } from './link.ts'
import { presentScreenshot, ScreenshotRecord } from './record.ts'
import { listScreenshots } from './store.ts'

export type ScreenshotContext = { db: Db; nats: Nats; publicUrl: string; sign: Sign }

const REGIONS = 'the regions that have a baseline; in the others the next comparison becomes it'

/** `GET /monitors/{id}/screenshots`, `POST /monitors/{id}/screenshots/baseline`. */
export function screenshotRoutes(app: App, { db, nats, publicUrl, sign }: ScreenshotContext): void {
  app.get(
    '/monitors/:id/screenshots',
    {
      schema: {
        summary: 'Screenshots of a monitor, newest first',
        tags: ['Monitors'],
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, pageSchema(ScreenshotRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { id } = request.params
      await ownMonitor(db, projectId, id)
      const { rows, total } = await listScreenshots(db, projectId, id, pageOf(request.query))
      const data = rows.map(row => presentScreenshot(row, screenshotUrl(publicUrl, row, now(), sign)))
      return { data, meta: metaOf(request.query, total) }
    },
  )

  app.post(
    '/monitors/:id/screenshots/baseline',
    {
      schema: {
        summary: 'Accept what the page looks like now: from here on it is compared with the newest comparison',
        tags: ['Monitors'],
        params: IdParams,
        response: answers(
          200,
          dataOf(Type.Object({ regions: Type.Array(Type.String(), { description: REGIONS }) })),
          404,
        ),
      },
    },
    async request => {
      const { id } = request.params
      await ownMonitor(db, callerOf(request).projectId, id)
      const regions = await acceptBaseline({ db: actingAs(db, request), nats }, id)
      return { data: { regions } }
    },
  )
}

async function ownMonitor(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id) || !(await findMonitor(db, projectId, id))) throw notFound('monitor')
}
