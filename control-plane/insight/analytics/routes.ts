import { Type } from 'typebox'
import { CHECK_STATUSES } from '../../../shared/checks/result.ts'
import { type Clickhouse, readAs } from '../../foundation/platform/clickhouse.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { createGoneSignal } from '../../foundation/web/connections.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { parseListFilter } from '../../foundation/web/validation/list-filter.ts'
import { buildPageMeta, toPageBounds } from '../../foundation/web/validation/pagination.ts'
import {
  dataSchema,
  IdParams,
  pageProperties,
  pageSchema,
  responseSchemas,
  strictObject,
} from '../../foundation/web/validation/schemas.ts'
import { CheckResult } from '../../monitoring/fleet/on-demand/check-result.ts'
import { HeartbeatDetail, selectPingKinds, toPingResponse } from '../../verdict/heartbeats/response.ts'
import { listPings } from '../../verdict/heartbeats/store.ts'
import { type ScreenshotLinks, toCheckResponses } from './checks/check-actions.ts'
import { listChecks } from './history-store.ts'
import { ANSWERED_REGIONS, latencyRoutes } from './latency/latency-routes.ts'
import { getOwnMonitor } from './own-monitor-reader.ts'
import { limitToPast, MAX_CHECK_DAYS, parseCheckRange, parseTimeRange } from './uptime/time-range.ts'
import { readUptime } from './uptime/uptime-reader.ts'
import { MAX_INTERVALS, toUptimeResponse, UptimeRecord } from './uptime/uptime-response.ts'

type AnalyticsContext = ScreenshotLinks & { clickhouse: Clickhouse }

const Check = Type.Object({ ...CheckResult.properties, heartbeat: Type.Optional(HeartbeatDetail) })
const DateTime = Type.String({ format: 'date-time' })
const checkRange = {
  from: Type.Optional({
    ...DateTime,
    description: `Defaults to ${MAX_CHECK_DAYS} days before \`to\`; for heartbeats, to the oldest ping.`,
  }),
  to: Type.Optional({
    ...DateTime,
    description: `Defaults to now. At most ${MAX_CHECK_DAYS} days after \`from\`; for heartbeats there is no limit.`,
  }),
}
const lastDay = {
  from: Type.Optional({ ...DateTime, description: 'Defaults to 24 hours before `to`.' }),
  to: Type.Optional({ ...DateTime, description: 'Defaults to now. At most 400 days after `from`.' }),
}
const severalDescription = 'One value, or several values separated by commas.'

const ChecksQuery = strictObject({
  ...pageProperties,
  ...checkRange,
  region: Type.Optional(Type.String({ description: severalDescription })),
  status: Type.Optional(Type.String({ description: severalDescription })),
})

const UptimeQuery = strictObject({ ...lastDay, monitor_id: Type.String() })

/** The history of monitors: checks, latency and uptime (docs/design/history.md). */
export function analyticsRoutes(app: App, context: AnalyticsContext): void {
  checkRoutes(app, context)
  latencyRoutes(app, context)
  uptimeRoutes(app, context)
}

function checkRoutes(app: App, context: AnalyticsContext): void {
  app.get(
    '/monitors/:id/checks',
    {
      schema: {
        summary: 'List the checks of a monitor, newest first',
        tags: ['Monitors'],
        params: IdParams,
        querystring: ChecksQuery,
        response: responseSchemas(200, pageSchema(Check), 400, 404, 503),
      },
    },
    async (request, reply) => {
      const { query, params } = request
      const { region, status, from, to } = query
      const filter = {
        regions: parseListFilter('region', region, ANSWERED_REGIONS),
        statuses: parseListFilter('status', status, CHECK_STATUSES),
      }
      const { projectId } = getCaller(request)
      const { id, type } = await getOwnMonitor(context.db, projectId, params.id)
      if (type === 'heartbeat') {
        const span = { from: from ? new Date(from) : null, to: to ? new Date(to) : null }
        const wanted = { ...span, kinds: selectPingKinds(filter) }
        const { pings, total } = await listPings(context.db, projectId, id, wanted, toPageBounds(query))
        return { data: pings.map(toPingResponse), meta: buildPageMeta(query, total) }
      }
      const wanted = { ...filter, ...parseCheckRange(query, now()) }
      const share = { key: projectId, signal: createGoneSignal(reply) }
      const { rows, total } = await readAs(context.clickhouse, share, reads =>
        listChecks(reads, id, wanted, toPageBounds(query)),
      )
      return { data: await toCheckResponses(context, projectId, id, rows), meta: buildPageMeta(query, total) }
    },
  )
}

function uptimeRoutes(app: App, { db }: AnalyticsContext): void {
  app.get(
    '/analytics/uptime',
    {
      schema: {
        summary: 'Get the uptime of a monitor',
        description: `Returns the time in each status and the first ${MAX_INTERVALS} underlying intervals, until now at most.`,
        tags: ['Analytics'],
        querystring: UptimeQuery,
        response: responseSchemas(200, dataSchema(UptimeRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const { monitor_id: monitorId } = request.query
      const at = now()
      const { from, to } = limitToPast(parseTimeRange(request.query, at), at)
      await getOwnMonitor(db, projectId, monitorId)
      return { data: toUptimeResponse(monitorId, await readUptime(db, projectId, monitorId, { from, to })) }
    },
  )
}
