import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { stripRoutes } from '../../control-plane/insight/analytics/strips/strip-routes.ts'
import { Outcome } from '../../shared/checks/result.ts'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { insertPeriod, insertTransitions, recordResults } from '../support/history-rows.ts'
import { readOperations } from '../support/operations.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { createResult } from '../support/results.ts'
import { countMostAtOnce } from '../support/statements-at-once.ts'
import { insertMonitor, insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createClickhouseDatabase(t)
const api = await startApi(t, { CLICKHOUSE_URL: url })
const { db } = api
const { operations } = await readOperations(api)
const operation = operations.find(({ name }) => name === 'GET /analytics/strips')!
const clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())

const MINUTE_MS = 60_000
const HALF_HOUR_MS = 30 * MINUTE_MS
const DAY_MS = 86_400_000
/** The beginning of a half hour, one to one and a half hours ago. */
const startMs = Math.floor(Date.now() / HALF_HOUR_MS) * HALF_HOUR_MS - 2 * HALF_HOUR_MS
const minute = (minutes: number) => new Date(startMs + minutes * MINUTE_MS)

// biome-ignore lint/suspicious/noExplicitAny: strips of the API
type Strips = { data: any[]; meta: any }

async function readStrips(ids: string[], key?: string): Promise<Strips> {
  const path = `/analytics/strips?monitor_ids=${ids.join()}`
  // the strips wait two seconds for the history; a busy machine may need more
  const { status, body } = await waitFor(async () => {
    const answer = await api.call('GET', path, key === undefined ? {} : { key })
    return answer.body.meta?.latency_available === false ? null : answer
  })
  t.equal(status, 200)
  t.same(findAnswerDifferences(operation, status, body), [])
  return body
}

/** The cell and the day that contain a minute. */
function at({ data: [strip], meta }: Strips, minutes: number) {
  const since = (from: string, stepMs: number) => Math.floor((minute(minutes).getTime() - Date.parse(from)) / stepMs)
  const cell = since(meta.cells_from, HALF_HOUR_MS)
  const day = since(meta.days_from, DAY_MS)
  return {
    cell: { status: strip.cells.status[cell], failing_share: strip.cells.failing_share[cell] },
    day: { status: strip.days.status[day], down_seconds: strip.days.down_seconds[day] },
  }
}

const UNKNOWN = { status: null, failing_share: null }
const count = (values: unknown[], value: unknown) => values.filter(one => one === value).length

t.test('GET /analytics/strips 200: the worst status of each half hour and day, with the time of failure', async t => {
  const { key, projectId } = await api.tenant()
  const id = await insertMonitor(db, projectId)
  await insertTransitions(
    db,
    [id],
    [
      [minute(-100 * 24 * 60), 'up'],
      [minute(5), 'down'],
      [minute(11), 'degraded'],
      [minute(14), 'down'],
      [minute(18), 'up'],
    ],
  )
  const strips = await readStrips([id], key)
  const [strip] = strips.data
  t.same([strip.cells.status.length, strip.cells.failing_share.length], [48, 48])
  t.same([strip.days.status.length, strip.days.down_seconds.length], [90, 90])
  t.same(at(strips, 0).cell, { status: 'down', failing_share: 0.3333 })
  t.same(at(strips, -1).cell, { status: 'up', failing_share: 0 })
  t.same(at(strips, 0).day, { status: 'down', down_seconds: 600 })
  t.same([count(strip.cells.status, 'up'), count(strip.days.status, 'up')], [47, 89])
  t.equal(strip.uptime_24h, Math.floor((1 - 600 / 86_400) * 1_000_000) / 10_000)
  t.equal(strip.p95_ms, null, 'no check is recorded')
  t.equal(Date.parse(strips.meta.cells_from) % HALF_HOUR_MS, 0)
  t.equal(Date.parse(strips.meta.days_from) % DAY_MS, 0)
})

t.test('GET /analytics/strips 200: unknown time is null and does not count as uptime', async t => {
  const { key, projectId } = await api.tenant()
  const [blind, fresh] = await insertMonitors(db, projectId, 2)
  const changes: [Date, string | null][] = [
    [minute(-12 * 60), 'down'],
    [minute(-10 * 60), null],
    [minute(0), 'up'],
  ]
  await insertTransitions(db, [blind!], changes)
  const strips = await readStrips([blind!], key)
  t.same(at(strips, -13 * 60).cell, UNKNOWN, 'before the first verdict')
  t.same(at(strips, -11 * 60).cell, { status: 'down', failing_share: 1 })
  t.same(at(strips, -60).cell, UNKNOWN, 'without a status')
  t.same(at(strips, 0).cell, { status: 'up', failing_share: 0 })
  const upSeconds = (Date.parse(strips.meta.to) - startMs) / 1_000
  t.ok(Math.abs(strips.data[0].uptime_24h - (100 * upSeconds) / (upSeconds + 7_200)) < 0.001)
  const [none] = (await readStrips([fresh!], key)).data
  const nothing = (length: number) => Array.from({ length }, () => null)
  t.same(none, {
    monitor_id: fresh,
    cells: { status: nothing(48), failing_share: nothing(48) },
    p95_ms: null,
    uptime_24h: null,
    days: { status: nothing(90), down_seconds: nothing(90) },
  })
})

t.test('GET /analytics/strips 200: maintenance is a status of its own and does not count', async t => {
  const { key, projectId } = await api.tenant()
  const id = await insertMonitor(db, projectId)
  await insertTransitions(db, [id], [[minute(-180), 'down']])
  await insertPeriod(db, projectId, id, minute(-90), minute(-15))
  const strips = await readStrips([id], key)
  t.same(at(strips, -60).cell, { status: 'maintenance', failing_share: 0 })
  t.same(at(strips, -30).cell, { status: 'down', failing_share: 1 }, 'the second half of it is outside the maintenance')
  t.equal(strips.data[0].uptime_24h, 0)
})

t.test('GET /analytics/strips 200: p95 of successful checks of 24 hours, from all regions', async t => {
  const { key, projectId } = await api.tenant()
  const [id, other] = await insertMonitors(db, projectId, 2)
  const results = Array.from({ length: 100 }, (_, i) =>
    createResult(id!, startMs - i * MINUTE_MS, { totalUs: (i + 1) * 1_000 }),
  )
  const failed = createResult(id!, startMs + MINUTE_MS, { outcome: Outcome.DOWN, totalUs: 9_000_000 })
  const old = createResult(id!, startMs - 25 * 60 * MINUTE_MS, { totalUs: 9_000_000 })
  await recordResults(clickhouse, [...results.slice(0, 50), failed, old], 'us-east')
  await recordResults(clickhouse, results.slice(50), 'eu-west')
  await recordResults(clickhouse, results.slice(50), 'eu-west')
  const { data } = await readStrips([other!, id!], key)
  t.match(data, [{ monitor_id: other, p95_ms: null }, { monitor_id: id }], 'in the order of the request')
  t.ok(data[1].p95_ms >= 95 && data[1].p95_ms <= 96, `${data[1].p95_ms} ms`)
})

t.test('GET /analytics/strips 200 leaves out foreign, unknown, deleted and malformed ids alike', async t => {
  const { key, projectId } = await api.tenant()
  const foreign = await api.tenant()
  const [own, deleted] = await insertMonitors(db, projectId, 2)
  const theirs = await insertMonitor(db, foreign.projectId)
  await insertTransitions(db, [theirs], [[minute(0), 'down']])
  await execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted!])
  const unknown = '01a1fb92-bd2c-74bd-b89d-7c289ceb0999'
  const { data } = await readStrips([theirs, unknown, deleted!, 'x', '', own!.toUpperCase(), own!], key)
  t.same(
    data.map(({ monitor_id }) => monitor_id),
    [own],
  )
  t.same((await readStrips([theirs], key)).data, [])
})

t.test('GET /analytics/strips 400 without ids and for more than 100, 401 without a key', async t => {
  const id = await insertMonitor(db, (await api.tenant()).projectId)
  const many = Array.from({ length: 101 }, (_, i) => `${id.slice(0, -3)}${100 + i}`)
  for (const path of ['', '?monitor_ids=', `?monitor_ids=${many.join()}`]) {
    const { status, body } = await api.call('GET', `/analytics/strips${path}`)
    t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'monitor_ids' }] } } }, path)
  }
  t.equal((await api.call('GET', `/analytics/strips?monitor_ids=${many.slice(1).join()}`)).status, 200)
  t.equal((await api.call('GET', `/analytics/strips?monitor_ids=${id}`, { key: null })).status, 401)
})

t.test('GET /analytics/strips 200 while ClickHouse is unreachable: only the latency is unknown', async t => {
  const away = createClickhouse('http://127.0.0.1:9')
  t.teardown(() => away.close())
  const resource = await createResourceApi(t, (app, handles) => stripRoutes(app, { ...handles, clickhouse: away }))
  const { call, projectId } = await resource.account()
  const id = await insertMonitor(resource.db, projectId)
  await insertTransitions(resource.db, [id], [[minute(0), 'up']])
  t.match(await call(`GET /analytics/strips?monitor_ids=${id}`), {
    status: 200,
    body: { data: [{ monitor_id: id, uptime_24h: 100, p95_ms: null }], meta: { latency_available: false } },
  })
})

t.test('A hundred monitors with fifty changes each need no more statements than one monitor', async t => {
  const resource = await createResourceApi(t, (app, handles) => stripRoutes(app, { ...handles, clickhouse }))
  const { call, projectId } = await resource.account()
  const ids = await insertMonitors(resource.db, projectId, 100)
  const changes = Array.from({ length: 50 }, (_, i): [Date, string] => [minute(-40 * i), i % 2 === 0 ? 'down' : 'up'])
  await insertTransitions(resource.db, ids, changes)
  await query(resource.db, 'ANALYZE transitions')
  const countStatements = async (some: string[]) => {
    let count = 0
    // the key is read again five seconds after its last reading
    const note = ({ sql }: { sql: string }) => void (sql.includes('api_keys') || count++)
    resource.db.on('query', note)
    const { body } = await call(`GET /analytics/strips?monitor_ids=${some.join()}`)
    resource.db.off('query', note)
    t.equal(body.data.length, some.length)
    return count
  }
  const ofOne = await countStatements(ids.slice(0, 1))
  t.equal(ofOne, 3)
  t.equal(await countStatements(ids), ofOne)
})

t.test('GET /analytics/strips reads the day and the 90 days one after the other', async t => {
  const resource = await createResourceApi(t, (app, handles) => stripRoutes(app, { ...handles, clickhouse }))
  const { call, projectId } = await resource.account()
  const id = await insertMonitor(resource.db, projectId)
  const strips = () => call(`GET /analytics/strips?monitor_ids=${id}`)
  const most = await countMostAtOnce(resource.db, strips, sql => sql.includes('FROM transitions'))
  t.same(most, { statements: 2, atOnce: 1 })
})
