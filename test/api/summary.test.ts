import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import { summaryRoutes } from '../../control-plane/insight/analytics/summary/summary-routes.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { insertLines } from '../support/insert-lines.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { buildArrival } from '../support/results.ts'
import { countMostAtOnce } from '../support/statements-at-once.ts'
import { createNextResult, insertMonitor, insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createClickhouseDatabase(t)
const api = await startApi(t, { CLICKHOUSE_URL: url })
const { db } = api
const clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())

const HOUR_MS = 3_600_000
const nowMs = Date.now()
const hoursAgo = (hours: number) => new Date(nowMs - hours * HOUR_MS)

/** A monitor in `status`, with earlier transitions: how many hours ago, and to which status. */
async function insertHistory(projectId: string, status: string | null, transitions: [number, string | null][]) {
  const id = await insertMonitor(db, projectId)
  await execute(db, 'UPDATE monitors SET status = ? WHERE id = ?', [status, id])
  await insertTransitions(db, [id], transitions)
  return id
}

async function insertTransitions(to: Db, ids: string[], transitions: [number, string | null][]) {
  await execute(
    to,
    `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
     SELECT gen_random_uuid(), m.project_id, m.id, row.status, row.at, 'full', '', '{}', now()
     FROM monitors m, jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (status text, at timestamptz)
     WHERE m.id = ANY(CAST(:ids AS uuid[]))`,
    { ids, rows: JSON.stringify(transitions.map(([hours, status]) => ({ status, at: hoursAgo(hours) }))) },
  )
}

/** A summary waits two seconds for the history; a busy machine may need more. */
const summaryWithChecks = (key: string) =>
  waitFor(async () => {
    const answer = await api.call('GET', '/analytics/summary', { key })
    return answer.body.data.checks_24h !== null ? answer : null
  })

t.test('GET /analytics/summary 200: a new project has no figures', async t => {
  const { key } = await api.tenant()
  const { status, body } = await summaryWithChecks(key)
  t.equal(status, 200)
  t.same(body, {
    data: {
      monitors: { total: 0, up: 0, down: 0, degraded: 0, paused: 0, pending: 0 },
      incidents: { open: 0, acknowledged: 0, resolved_24h: 0, mttr_seconds_30d: null, mtta_seconds_30d: null },
      uptime: { '24h': null, '7d': null, '30d': null, '90d': null },
      checks_24h: 0,
    },
  })
})

t.test('GET /analytics/summary 200: monitors by status, and the uptime of all of them together', async t => {
  const { key, projectId } = await api.tenant()
  const other = await api.tenant()
  await insertHistory(projectId, 'up', [
    [100 * 24, 'up'],
    [6, 'down'],
    [3, 'up'],
  ])
  await insertHistory(projectId, 'degraded', [
    [12, 'up'],
    [6, 'degraded'],
  ])
  await insertHistory(projectId, 'down', [[9, 'down']])
  await insertHistory(projectId, null, [])
  const paused = await insertHistory(projectId, null, [
    [48, 'down'],
    [24, null],
  ])
  const deleted = await insertHistory(projectId, null, [[500, 'down']])
  await execute(db, 'UPDATE monitors SET is_paused = true WHERE id = ?', [paused])
  await execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted])
  await insertHistory(other.projectId, 'down', [[500, 'down']])
  const { data } = (await api.call('GET', '/analytics/summary', { key })).body
  t.same(data.monitors, { total: 5, up: 1, down: 1, degraded: 1, paused: 1, pending: 1 })
  // good hours over known hours: in a day 21 + 12 + 0 of 24 + 12 + 9, in a week 165 + 12 of 168 + 12 + 9 + 24; an hour
  // more would change them by one percent at most
  const hoursSince = (Date.now() - nowMs) / HOUR_MS
  const near = (percentage: number, good: number, known: number) =>
    t.ok(Math.abs(percentage - (100 * good) / known) < 0.01 + 1.1 * hoursSince, `${percentage} is ${good} of ${known}`)
  near(data.uptime['24h'], 33, 45)
  near(data.uptime['7d'], 177, 213)
  near(data.uptime['30d'], 717 + 12, 720 + 45)
  near(data.uptime['90d'], 2157 + 12, 2160 + 45)
})

t.test('GET /analytics/summary 200: incidents and reaction times', async t => {
  const { key, projectId } = await api.tenant()
  const other = await api.tenant()
  const insert = (owner: string, started: number, acknowledged: number | null, resolved: number | null) =>
    execute(
      db,
      `INSERT INTO incidents (id, project_id, title, severity, status, source, started_at, acknowledged_at, resolved_at,
         created_at, updated_at)
       VALUES (gen_random_uuid(), ?, 'x', 'minor', ?, 'manual', ?, ?, ?, now(), now())`,
      [
        owner,
        resolved === null ? 'identified' : 'resolved',
        hoursAgo(started),
        acknowledged === null ? null : hoursAgo(acknowledged),
        resolved === null ? null : hoursAgo(resolved),
      ],
    )
  await insert(projectId, 5, null, null)
  await insert(projectId, 5, 4, null)
  await insert(projectId, 10, 9.5, 8)
  await insert(projectId, 100, null, 96)
  await insert(projectId, 900, 898, 890)
  await insert(other.projectId, 9, 8, 7)
  await insert(other.projectId, 9, null, null)
  const { data } = (await api.call('GET', '/analytics/summary', { key })).body
  t.same(data.incidents, {
    open: 2,
    acknowledged: 1,
    resolved_24h: 1,
    mttr_seconds_30d: 3 * 3_600,
    mtta_seconds_30d: 0.75 * 3_600,
  })
})

t.test(
  'GET /analytics/summary 200: checks of 24 hours with re-checks, without duplicates and missed checks',
  async t => {
    const { key, projectId } = await api.tenant()
    const ids = await insertMonitors(db, projectId, 450)
    const at = (id: string, hours: number, attempt: number) => {
      const scheduledAtMs = nowMs - hours * HOUR_MS
      return createNextResult(id, { up: true, scheduledAtMs, startedAtMs: scheduledAtMs, attempt })
    }
    const results = [...ids.map(id => at(id, 1, 1)), at(ids[0]!, 2, 1), at(ids[0]!, 2, 2), at(ids[0]!, 25, 1)]
    const origin = encodeOrigin({ region: 'us-east', probeId: '01a1fb92-bd2c-74bd-b89d-7c289ceb0470' })
    for (const _ of ['first', 'again']) {
      const lines = results.map(result => toResultLine(result, origin, buildArrival(result)))
      await insertLines(clickhouse, `results (${RESULT_LINE_COLUMNS})`, lines)
    }
    t.equal((await summaryWithChecks(key)).body.data.checks_24h, 452)
  },
)

t.test('GET /analytics/summary 400 for query parameters and 401 without a key', async t => {
  t.equal((await api.call('GET', '/analytics/summary?window=24h')).status, 400)
  t.equal((await api.call('GET', '/analytics/summary', { key: null })).status, 401)
})

t.test('GET /analytics/summary 200 while ClickHouse is unreachable: only the checks are unknown', async t => {
  const away = createClickhouse('http://127.0.0.1:9')
  t.teardown(() => away.close())
  const resource = await createResourceApi(t, (app, handles) => summaryRoutes(app, { ...handles, clickhouse: away }))
  const { call, projectId } = await resource.account()
  await insertMonitor(resource.db, projectId)
  t.match(await call('GET /analytics/summary'), {
    status: 200,
    body: { data: { monitors: { total: 1, pending: 1 }, checks_24h: null } },
  })
})

t.test('A thousand monitors with fifty changes each need no more statements than one monitor', async t => {
  const resource = await createResourceApi(t, (app, handles) => summaryRoutes(app, { ...handles, clickhouse }))
  const { call, projectId } = await resource.account()
  const { db } = resource
  const captureStatements = async (work: () => Promise<unknown>) => {
    const statements: string[] = []
    // the key and the count of checks are read again five seconds after their last reading
    const isCached = (sql: string) => sql.includes('api_keys') || sql.includes('SELECT id FROM monitors')
    const note = ({ sql }: { sql: string }) => void (isCached(sql) || statements.push(sql))
    db.on('query', note)
    await work()
    db.off('query', note)
    return statements
  }
  await call('GET /analytics/summary')
  const ofNone = await captureStatements(() => call('GET /analytics/summary'))
  const ids = await insertMonitors(db, projectId, 1_000)
  await insertTransitions(
    db,
    ids,
    Array.from({ length: 50 }, (_, i) => [2_000 - 40 * i, i % 2 === 0 ? 'down' : 'up']),
  )
  await query(db, 'ANALYZE transitions')
  const { data } = (await call('GET /analytics/summary')).body
  const ofAll = await captureStatements(() => call('GET /analytics/summary'))
  t.ok(ofNone.length > 0)
  t.strictSame(ofAll, ofNone)
  t.equal(data.monitors.total, 1_000)
  t.ok(data.uptime['90d'] > 45 && data.uptime['90d'] < 55, `${data.uptime['90d']} %`)
})

t.test('GET /analytics/summary reads one figure after the other', async t => {
  const resource = await createResourceApi(t, (app, handles) => summaryRoutes(app, { ...handles, clickhouse }))
  const { call } = await resource.account()
  const most = await countMostAtOnce(
    resource.db,
    () => call('GET /analytics/summary'),
    sql => /FROM (incidents|transitions)|count\(\*\) AS total/.test(sql),
  )
  t.same(most, { statements: 3, atOnce: 1 })
})
