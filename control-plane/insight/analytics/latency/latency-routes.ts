import { Type } from 'typebox'
import { REGIONS } from '../../../../shared/checks/check.ts'
import { type Clickhouse, readAs } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createGoneSignal } from '../../../foundation/web/connections.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { responseSchemas, strictObject, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { DATA_SOURCE_REGION, HEARTBEAT_REGION } from '../../../monitoring/monitors/types.ts'
import { getOwnMonitor } from '../own-monitor-reader.ts'
import { parseTimeRange } from '../uptime/time-range.ts'
import { HeatmapMeta, HeatmapStep, toHeatmapMeta, toHeatmapStep } from './heatmap.ts'
import { LatencyHour, LatencyMeta, toLatencyHour, toLatencyStep } from './latency-response.ts'
import { listHeatmap, listLatency, listLatencySteps } from './latency-store.ts'
import { alignToSteps, assertChecksOfRange, RETENTION_DAYS, stepProperties } from './step-range.ts'

type LatencyContext = { db: Db; clickhouse: Clickhouse }

/** The regions of results. Heartbeats and data sources have a region of their own. */
export const ANSWERED_REGIONS = [...REGIONS, HEARTBEAT_REGION, DATA_SOURCE_REGION]

const DateTime = Type.String({ format: 'date-time' })
const monitorProperties = { monitor_id: Type.String(), region: Type.Optional(stringEnum(ANSWERED_REGIONS)) }

const LatencyQuery = strictObject({
  ...stepProperties,
  to: Type.Optional({
    ...DateTime,
    description: 'Defaults to now. At most 400 days after `from`; 31 days with `phases=true`.',
  }),
  ...monitorProperties,
  phases: Type.Optional(Type.Boolean({ description: 'Adds the average of each phase. Default false.' })),
})

const HeatmapQuery = strictObject({
  ...stepProperties,
  to: Type.Optional({ ...DateTime, description: 'Defaults to now. At most 31 days after `from`.' }),
  ...monitorProperties,
})

/** Younger hours are computed from the results, so they are always current. */
const LIVE_MS = 48 * 3_600_000
/** Older results are deleted. */
const RETENTION_MS = RETENTION_DAYS * 24 * 3_600_000

/** The hour in which the time `ms` ago was, in seconds since 1970. */
const findHourBefore = (ms: number) => Math.floor((now().getTime() - ms) / 3_600_000) * 3_600

/** The latency of a monitor (docs/design/history.md#steps). */
export function latencyRoutes(app: App, context: LatencyContext): void {
  percentileRoutes(app, context)
  heatmapRoutes(app, context)
}

function percentileRoutes(app: App, { db, clickhouse }: LatencyContext): void {
  app.get(
    '/analytics/latency',
    {
      schema: {
        summary: 'List latency percentiles of a monitor by hour or 5 minutes',
        tags: ['Analytics'],
        querystring: LatencyQuery,
        description:
          'Percentiles are in milliseconds. The response covers all whole steps between `from` and `to`; `meta` contains the exact range.',
        response: responseSchemas(
          200,
          Type.Object({ data: Type.Array(LatencyHour), meta: LatencyMeta }),
          400,
          404,
          503,
        ),
      },
    },
    async (request, reply) => {
      const { monitor_id: monitor, region = '', step = '1h', phases = false } = request.query
      const range = parseTimeRange(request.query, now())
      const isFine = phases || step !== '1h'
      if (isFine) assertChecksOfRange(range, step, step === '1h' ? 'phases=true' : `step=${step}`, now())
      const { projectId } = getCaller(request)
      await getOwnMonitor(db, projectId, monitor)
      const share = { key: projectId, signal: createGoneSignal(reply) }
      const steps = alignToSteps(range, step)
      const { from, to } = steps
      const meta = { from: new Date(from * 1_000), to: new Date(to * 1_000) }
      if (isFine) {
        const rows = await readAs(clickhouse, share, reads => listLatencySteps(reads, { monitor, region, ...steps }))
        return { data: rows.map(row => toLatencyStep(row, phases)), meta }
      }
      const live = { liveFrom: findHourBefore(LIVE_MS), oldest: findHourBefore(RETENTION_MS) }
      // the last hour is inclusive in this query
      const hours = { monitor, region, from, to: to - 3_600, ...live }
      const rows = await readAs(clickhouse, share, reads => listLatency(reads, hours))
      return { data: rows.map(toLatencyHour), meta }
    },
  )
}

function heatmapRoutes(app: App, { db, clickhouse }: LatencyContext): void {
  app.get(
    '/analytics/heatmap',
    {
      schema: {
        summary: 'Count the checks of a monitor by time and latency',
        description:
          'Steps without a check are left out. `meta` contains the exact range and the bounds of the latency.',
        tags: ['Analytics'],
        querystring: HeatmapQuery,
        response: responseSchemas(
          200,
          Type.Object({ data: Type.Array(HeatmapStep), meta: HeatmapMeta }),
          400,
          404,
          503,
        ),
      },
    },
    async (request, reply) => {
      const { monitor_id: monitor, region = '', step = '1h' } = request.query
      const range = parseTimeRange(request.query, now())
      assertChecksOfRange(range, step, `step=${step}`, now())
      const { projectId } = getCaller(request)
      await getOwnMonitor(db, projectId, monitor)
      const share = { key: projectId, signal: createGoneSignal(reply) }
      const steps = alignToSteps(range, step)
      const rows = await readAs(clickhouse, share, reads => listHeatmap(reads, { monitor, region, ...steps }))
      return { data: rows.map(toHeatmapStep), meta: toHeatmapMeta(steps) }
    },
  )
}
