import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { dataSchema, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { createCheckCountReader } from './check-count-reader.ts'
import { buildUptimeWindows, computeUptimeByWindow, Summary } from './summary.ts'
import { countMonitors, loadIncidentStatistics, sumTimeInStatus } from './summary-store.ts'

/** The summary of a project (docs/design/history.md#uptime). */
export function summaryRoutes(app: App, { db, clickhouse }: { db: Db; clickhouse: Clickhouse }): void {
  const checksOfDay = createCheckCountReader({ db, clickhouse })
  app.get(
    '/analytics/summary',
    {
      schema: {
        summary: 'Get the summary of the project',
        description: 'Counts monitors, incidents and checks, and returns the uptime.',
        tags: ['Analytics'],
        response: responseSchemas(200, dataSchema(Summary)),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const until = now()
      const windows = buildUptimeWindows(until)
      const since = (name: string) => windows.find(window => window.name === name)!.since
      // one statement after the other: the last can take long, and so a request takes one connection only
      const readFigures = async () => ({
        monitors: await countMonitors(db, projectId),
        incidents: await loadIncidentStatistics(db, projectId, { day: since('24h'), month: since('30d') }),
        uptime: computeUptimeByWindow(await sumTimeInStatus(db, projectId, windows, until)),
      })
      const [figures, checks] = await Promise.all([readFigures(), checksOfDay(projectId)])
      return { data: { ...figures, checks_24h: checks } }
    },
  )
}
