import { Type } from 'typebox'
import { REGIONS } from '../../shared/check.ts'
import { CHECK_STATUSES } from '../../shared/result.ts'
import { CheckResult, presentResult } from '../fleet/check-result.ts'
import { HeartbeatDetail, kindsOf, presentPing } from '../heartbeats/present.ts'
import { listPings } from '../heartbeats/store.ts'
import { periodsOf } from '../maintenance/store.ts'
import { findMonitor } from '../monitors/store.ts'
import { DATA_SOURCE_REGION, HEARTBEAT_REGION, type StoredMonitor } from '../monitors/types.ts'
import type { Clickhouse } from '../platform/clickhouse.ts'
import { createPauses, now } from '../platform/clock.ts'
import { collect } from '../platform/collect.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { Sign } from '../platform/signer.ts'
import { screenshotUrl } from '../screenshots/link.ts'
import { checkKeyOf, screenshotsOfChecks } from '../screenshots/store.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { severalOf } from '../web/filters.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import {
  answers,
  dataOf,
  enumOf,
  IdParams,
  pageProperties,
  pageOf as pageSchema,
  strictObject,
} from '../web/schemas.ts'
import { LatencyHour, LatencyMeta, latencyMeta, presentHour } from './latency.ts'
import { markMaintenance } from './maintenance.ts'
import { type ResultRow, toResult } from './result-row.ts'
import { spanOf } from './span.ts'
import { listChecks, listLatency, statusHistory } from './store.ts'
import { intervalsOf, summarize } from './uptime.ts'
import { presentUptime, UptimeRecord } from './uptime-record.ts'

export type AnalyticsContext = { db: Db; clickhouse: Clickhouse; publicUrl: string; sign: Sign }

const Check = Type.Object({ ...CheckResult.properties, heartbeat: Type.Optional(HeartbeatDetail) })
const DateTime = Type.String({ format: 'date-time' })
const spanProperties = { from: Type.Optional(DateTime), to: Type.Optional(DateTime) }
const lastDay = {
  from: Type.Optional({ ...DateTime, description: '24 hours before to unless it is said' }),
  to: Type.Optional({ ...DateTime, description: 'now unless it is said; at most 400 days after from' }),
}
const severalDescription = 'one value, or several separated by commas'

const ChecksQuery = strictObject({
  ...pageProperties,
  ...spanProperties,
  region: Type.Optional(Type.String({ description: severalDescription })),
  status: Type.Optional(Type.String({ description: severalDescription })),
})

/** The regions that results of checks have: those of heartbeats and data sources have a region of their own. */
const ANSWERED_REGIONS = [...REGIONS, HEARTBEAT_REGION, DATA_SOURCE_REGION]

const LatencyQuery = strictObject({
  ...lastDay,
  monitor_id: Type.String(),
  region: Type.Optional(enumOf(ANSWERED_REGIONS)),
})

const UptimeQuery = strictObject({ ...lastDay, monitor_id: Type.String() })

/** Hours younger than this are computed from the results themselves, so they are never behind. */
const LIVE_MS = 48 * 3_600_000

export function analyticsRoutes(app: App, { db, clickhouse, publicUrl, sign }: AnalyticsContext): void {
  /** A screenshot is taken after its check, so the history learns of it here. */
  const screenshotUrls = async (projectId: string, monitorId: string, rows: ResultRow[]) => {
    const checks = rows.map(row => ({ ...toResult(row), region: row.region }))
    const found = await screenshotsOfChecks(db, projectId, monitorId, checks)
    return new Map([...found].map(([key, id]) => [key, screenshotUrl(publicUrl, { id }, now(), sign)]))
  }

  app.get(
    '/monitors/:id/checks',
    {
      schema: {
        summary: 'Checks of a monitor, newest first',
        tags: ['Monitors'],
        params: IdParams,
        querystring: ChecksQuery,
        response: answers(200, pageSchema(Check), 400, 404, 503),
      },
    },
    async request => {
      const { region, status, from, to } = request.query
      const filter = {
        regions: severalOf('region', region, ANSWERED_REGIONS),
        statuses: severalOf('status', status, CHECK_STATUSES),
        fromMs: from ? Date.parse(from) : null,
        toMs: to ? Date.parse(to) : null,
      }
      const { projectId } = callerOf(request)
      const { id, type } = await ownMonitor(db, projectId, request.params.id)
      if (type === 'heartbeat') {
        const span = { from: from ? new Date(from) : null, to: to ? new Date(to) : null }
        const wanted = { ...span, kinds: kindsOf(filter) }
        const { pings, total } = await listPings(db, projectId, id, wanted, pageOf(request.query))
        return { data: pings.map(presentPing), meta: metaOf(request.query, total) }
      }
      const { rows, total } = await listChecks(clickhouse, id, filter, pageOf(request.query))
      const urls = await screenshotUrls(callerOf(request).projectId, request.params.id, rows)
      return { data: rows.map(row => presentCheck(row, urls)), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/analytics/latency',
    {
      schema: {
        summary: 'Hourly latency percentiles of a monitor, in milliseconds',
        tags: ['Analytics'],
        querystring: LatencyQuery,
        description: 'Whole hours: all that the time from `from` to `to` touches, which `meta` names.',
        response: answers(200, Type.Object({ data: Type.Array(LatencyHour), meta: LatencyMeta }), 400, 404, 503),
      },
    },
    async request => {
      const { monitor_id: monitor, region = '' } = request.query
      const { from, to } = spanOf(request.query, now())
      await ownMonitor(db, callerOf(request).projectId, monitor)
      const liveFrom = Math.floor((now().getTime() - LIVE_MS) / 3_600_000) * 3_600
      // the hours that the span touches; its end is not part of it
      const last = startOfHour(new Date(to.getTime() - 1))
      const span = { monitor, region, from: startOfHour(from), to: last, liveFrom }
      const data = (await listLatency(clickhouse, span)).map(presentHour)
      return { data, meta: latencyMeta(span.from, span.to) }
    },
  )

  app.get(
    '/analytics/uptime',
    {
      schema: {
        summary: 'Time in each status and the intervals behind it',
        tags: ['Analytics'],
        querystring: UptimeQuery,
        response: answers(200, dataOf(UptimeRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { monitor_id: monitorId } = request.query
      const { from, to } = spanOf(request.query, now())
      await ownMonitor(db, projectId, monitorId)
      const { before, changes } = await statusHistory(db, projectId, monitorId, from, to)
      const periods = await periodsOf(db, projectId, monitorId, from, to)
      const cut = markMaintenance(intervalsOf(before, changes, from, to), periods)
      // one that a tenant's own pings move up and down all day has some 100,000
      const intervals = await collect(cut, createPauses())
      return { data: presentUptime(monitorId, { from, to }, summarize(intervals), intervals) }
    },
  )
}

/** `urls`: by `checkKeyOf`. */
function presentCheck(row: ResultRow, urls: Map<string, string>) {
  const result = toResult(row)
  const screenshotUrl = urls.get(checkKeyOf({ ...result, region: row.region })) ?? null
  // no probe looked at the value of a data source
  const probe_id = row.probe_id === '' ? null : row.probe_id
  return { ...presentResult(result, row.region, row.probe_id), probe_id, screenshot_url: screenshotUrl }
}

async function ownMonitor(db: Db, projectId: string, id: string): Promise<StoredMonitor> {
  const monitor = isId(id) ? await findMonitor(db, projectId, id) : null
  if (!monitor) throw notFound('monitor')
  return monitor
}

const startOfHour = (date: Date) => Math.floor(date.getTime() / 3_600_000) * 3_600
