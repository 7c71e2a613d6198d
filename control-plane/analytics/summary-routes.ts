import type { Clickhouse } from '../platform/clickhouse.ts'
import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { answers, dataOf } from '../web/schemas.ts'
import { Summary, uptimeByWindow, windowsUntil } from './summary.ts'
import { createChecksOfDay } from './summary-reader.ts'
import { countMonitors, incidentFigures, timeInStatus } from './summary-store.ts'

/** A project at a glance (specification, "Analytics"; decisions 8.1). */
export function summaryRoutes(app: App, { db, clickhouse }: { db: Db; clickhouse: Clickhouse }): void {
  const checksOfDay = createChecksOfDay({ db, clickhouse })
  app.get(
    '/analytics/summary',
    {
      schema: {
        summary: 'Monitors, incidents, uptime and checks of the project',
        tags: ['Analytics'],
        response: answers(200, dataOf(Summary)),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const until = now()
      const windows = windowsUntil(until)
      const since = (name: string) => windows.find(window => window.name === name)!.since
      const [monitors, incidents, times, checks] = await Promise.all([
        countMonitors(db, projectId),
        incidentFigures(db, projectId, { day: since('24h'), month: since('30d') }),
        timeInStatus(db, projectId, windows, until),
        checksOfDay(projectId),
      ])
      return { data: { monitors, incidents, uptime: uptimeByWindow(times), checks_24h: checks } }
    },
  )
}
