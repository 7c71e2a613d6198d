import { Type } from 'typebox'
import { type Clickhouse, readAs } from '../../../foundation/platform/clickhouse.ts'
import { collectInChunks } from '../../../foundation/platform/concurrency/collect.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, now } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createGoneSignal } from '../../../foundation/web/connections.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { responseSchemas, strictObject } from '../../../foundation/web/validation/schemas.ts'
import { listStatusTimes } from '../uptime/status-time-store.ts'
import { buildStripGrids, buildStrips, CELL_MS, DAY_MS, StripMeta, StripRecord } from './strip.ts'
import { findOwnMonitorIds, loadDailyP95 } from './strip-store.ts'

const MAX_MONITORS = 100
/** ClickHouse may be slow or unreachable; the rest of the strips does not wait for it. */
const QUERY_TIMEOUT_MS = 2_000

const StripQuery = strictObject({
  monitor_ids: Type.String({
    minLength: 1,
    maxLength: 100 * MAX_MONITORS,
    description: `At most ${MAX_MONITORS} ids, separated by commas. Ids that are not monitors of the project are left out of the response.`,
  }),
})

/** The history of many monitors in short, for the rows of a list (docs/design/history.md#strips). */
export function stripRoutes(app: App, { db, clickhouse }: { db: Db; clickhouse: Clickhouse }): void {
  app.get(
    '/analytics/strips',
    {
      schema: {
        summary: 'List the last 24 hours and 90 days of monitors in short',
        description: 'The order of the response is that of `monitor_ids`.',
        tags: ['Analytics'],
        querystring: StripQuery,
        response: responseSchemas(200, Type.Object({ data: Type.Array(StripRecord), meta: StripMeta }), 400),
      },
    },
    async (request, reply) => {
      const wanted = parseMonitorIds(request.query.monitor_ids)
      const { projectId } = getCaller(request)
      const own = await findOwnMonitorIds(db, projectId, wanted)
      const ids = wanted.filter(id => own.has(id))
      const until = now()
      const grids = buildStripGrids(until)
      const daysFrom = new Date(grids.days.startMs)
      const share = { key: projectId, timeoutMs: QUERY_TIMEOUT_MS, signal: createGoneSignal(reply) }
      // one statement after the other: both can take long, and so a request takes one connection only
      const readTimes = async () => ({
        recent: await listStatusTimes(db, ids, { from: grids.dayAgo, now: until, stepMs: CELL_MS }),
        daily: await listStatusTimes(db, ids, { from: daysFrom, now: until, stepMs: DAY_MS }),
      })
      const [times, p95] = await Promise.all([
        readTimes(),
        readAs(clickhouse, share, reads => loadDailyP95(reads, ids)).catch(() => null),
      ])
      const data = await collectInChunks(buildStrips(ids, { ...times, p95 }, grids), createYieldPoint())
      const cells_from = new Date(grids.cells.startMs)
      return { data, meta: { cells_from, days_from: daysFrom, to: until, latency_available: p95 !== null } }
    },
  )
}

/** The ids that can be those of records, in lower case, each once. Throws 400 for too many. */
function parseMonitorIds(text: string): string[] {
  const ids = [...new Set(text.toLowerCase().split(','))]
  if (ids.length <= MAX_MONITORS) return ids.filter(isId)
  const message = `monitor_ids must have at most ${MAX_MONITORS} ids, not ${ids.length}`
  throw validationError([{ path: 'monitor_ids', message }])
}
