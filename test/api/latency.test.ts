import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { saveProgress } from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-store.ts'
import { latencyRoutes } from '../../control-plane/insight/analytics/latency/latency-routes.ts'
import { Outcome, type Result } from '../../shared/checks/result.ts'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { recordResults } from '../support/history-rows.ts'
import { readOperations } from '../support/operations.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { createResult } from '../support/results.ts'
import { insertMonitor } from '../support/verdict.ts'

const { url } = await createClickhouseDatabase(t)
const api = await startApi(t, { CLICKHOUSE_URL: url })
const { operations } = await readOperations(api)
const clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
const timeAt = (minutes: number) => new Date(hourMs + minutes * MINUTE_MS).toISOString()
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

const timings = (scale: number) => ({
  dnsUs: 100 * scale,
  connectUs: 200 * scale,
  tlsUs: 300 * scale,
  firstByteUs: 400 * scale,
  transferUs: 500 * scale,
})
const check = (id: string, minute: number, changes: Partial<Result>) =>
  createResult(id, hourMs + minute * MINUTE_MS, changes)

async function read(path: string, key: string) {
  const { status, body } = await api.call('GET', path, { key })
  t.equal(status, 200, path)
  const operation = operations.find(({ name }) => name === `GET ${path.split('?')[0]}`)!
  t.same(findAnswerDifferences(operation, status, body), [])
  return body
}

t.test('GET /analytics/latency 200 step=5m returns percentiles of 5 minutes', async t => {
  const { key, projectId } = await api.tenant()
  const id = await insertMonitor(api.db, projectId)
  const east = [0, 1, 2, 3, 4, 5, 119].map(minute => check(id, minute, { totalUs: (minute + 1) * 1_000 }))
  await recordResults(clickhouse, [...east, check(id, 2, { attempt: 2, outcome: Outcome.DOWN, totalUs: 9_000_000 })])
  await recordResults(clickhouse, [check(id, 6, { totalUs: 100_000 })], 'eu-west')
  const path = `/analytics/latency?monitor_id=${id}&step=5m`
  const body = await read(path, key)
  t.match(body.data, [
    { at: timeAt(0), hour: timeAt(0), region: null, count: 5, p50: 3, min: 1, max: 5, avg: 3 },
    { at: timeAt(5), hour: timeAt(0), count: 2, min: 6, max: 100, avg: 53 },
    { at: timeAt(115), hour: timeAt(60), count: 1, max: 120 },
  ])
  t.notOk('phases' in body.data[0])
  t.match((await read(`${path}&region=eu-west`, key)).data, [{ at: timeAt(5), region: 'eu-west', count: 1, avg: 100 }])
  const part = await read(`${path}&from=${timeAt(3)}&to=${timeAt(5)}`, key)
  t.match(part, { data: [{ at: timeAt(0), count: 5 }], meta: { from: timeAt(0), to: timeAt(5) } })
  t.match((await read(`/analytics/latency?monitor_id=${id}`, key)).data, [
    { at: timeAt(0), hour: timeAt(0), count: 7 },
    { at: timeAt(60), hour: timeAt(60), count: 1 },
  ])
})

t.test('GET /analytics/latency 200 has no gap while days are not computed yet', async t => {
  const { key, projectId } = await api.tenant()
  const id = await insertMonitor(api.db, projectId)
  const dayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const at = (days: number) => new Date(dayMs - days * DAY_MS).toISOString()
  await recordResults(
    clickhouse,
    [80, 5, 4, 3, 1].map(days => createResult(id, dayMs - days * DAY_MS, { totalUs: 1_000 * days })),
  )
  const computed = [6, 5, 4].map(days => [id, (dayMs - days * DAY_MS) / 1_000, '', 9, 1, 1, 1, 1, 1, 1, 1, 1, dayMs])
  await clickhouse.insert({ table: 'latency_hourly', values: computed, format: 'JSONCompactEachRow' })
  const readHours = async () =>
    (await read(`/analytics/latency?monitor_id=${id}&from=${at(100)}`, key)).data.map(
      ({ at, count }: { at: string; count: number }) => [at, count],
    )
  const progress = async (...days: number[]) => {
    await clickhouse.command({ query: 'TRUNCATE TABLE progress' })
    for (const day of days) await saveProgress(clickhouse, 'closed_until', dayMs - day * DAY_MS)
  }
  // the days until which all days are computed, and the days with their numbers of checks
  const cases: [name: string, closedUntil: number[], days: [daysAgo: number, checks: number][]][] = [
    [
      'until 4 days ago',
      [4],
      [
        [6, 9],
        [5, 9],
        [4, 1],
        [3, 1],
        [1, 1],
      ],
    ],
    [
      'all days',
      [4, 1],
      [
        [6, 9],
        [5, 9],
        [4, 9],
        [1, 1],
      ],
    ],
    [
      'no day yet',
      [],
      [
        [80, 1],
        [5, 1],
        [4, 1],
        [3, 1],
        [1, 1],
      ],
    ],
    [
      'no day since long ago',
      [200],
      [
        [80, 1],
        [5, 1],
        [4, 1],
        [3, 1],
        [1, 1],
      ],
    ],
  ]
  for (const [name, closedUntil, days] of cases) {
    await progress(...closedUntil)
    const expected = days.map(([daysAgo, checks]) => [at(daysAgo), checks])
    t.same(await readHours(), expected, `computed: ${name}`)
  }
})

t.test(
  'GET /analytics/latency 200 phases=true adds the average of each phase of the checks that have phases',
  async t => {
    const { key, projectId } = await api.tenant()
    const id = await insertMonitor(api.db, projectId)
    await recordResults(clickhouse, [
      check(id, 0, { totalUs: 1_500, timings: timings(1) }),
      check(id, 1, { totalUs: 4_500, timings: timings(3) }),
      check(id, 2, { totalUs: 6_000 }),
      check(id, 3, { outcome: Outcome.DOWN, totalUs: 9_000, timings: timings(9) }),
      check(id, 61, { totalUs: 2_000 }),
    ])
    const average = { dns_ms: 0.2, connect_ms: 0.4, tls_ms: 0.6, first_byte_ms: 0.8, transfer_ms: 1 }
    for (const step of ['1h', '5m']) {
      const { data } = await read(`/analytics/latency?monitor_id=${id}&phases=true&step=${step}`, key)
      t.match(
        data,
        [
          { at: timeAt(0), count: 3, avg: 4 },
          { at: timeAt(60), count: 1, phases: null },
        ],
        step,
      )
      t.same(data[0].phases, average, step)
    }
  },
)

t.test('GET /analytics/heatmap 200 counts checks by step and latency, and those that failed', async t => {
  const { key, projectId } = await api.tenant()
  const id = await insertMonitor(api.db, projectId)
  const of = (minute: number, ms: number, outcome = Outcome.UP) => check(id, minute, { totalUs: ms * 1_000, outcome })
  const results = [of(0, 1), of(1, 9.999), of(2, 10), of(3, 999), of(4, 1_000, Outcome.DEGRADED), of(5, 40_000)]
  await recordResults(clickhouse, [...results, of(6, 5, Outcome.DOWN), of(7, 0, Outcome.MISSED)])
  await recordResults(clickhouse, [of(0, 60)], 'eu-west')
  await recordResults(clickhouse, [of(65, 60, Outcome.DOWN)])
  const path = `/analytics/heatmap?monitor_id=${id}`
  const { data, meta } = await read(`${path}&from=${timeAt(1)}&to=${timeAt(100)}`, key)
  t.same(meta, {
    from: timeAt(0),
    to: timeAt(120),
    step_seconds: 3_600,
    bounds_ms: [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000],
  })
  t.same(data, [
    { at: timeAt(0), counts: [2, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1], failed: 1 },
    { at: timeAt(60), counts: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], failed: 1 },
  ])
  const fine = await read(`${path}&step=5m&region=us-east`, key)
  t.match(fine.data, [
    { at: timeAt(0), counts: [2, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0], failed: 0 },
    { at: timeAt(5), counts: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], failed: 1 },
    { at: timeAt(65), failed: 1 },
  ])
  t.equal(fine.meta.step_seconds, 300)
  t.same((await read(`${path}&region=eu-west&from=${timeAt(60)}`, key)).data, [])
})

t.test('GET /analytics/latency and /analytics/heatmap 400 for ranges that need too many or deleted checks', async t => {
  const { key, projectId } = await api.tenant()
  const id = await insertMonitor(api.db, projectId)
  const rows: [string, string, string | null][] = [
    ['latency', `step=5m&from=${daysAgo(2.9)}`, null],
    ['latency', `step=5m&from=${daysAgo(3.1)}`, 'with step=5m, from and to must not be more than 3 days apart'],
    ['latency', `phases=true&from=${daysAgo(30)}`, null],
    ['latency', `phases=true&from=${daysAgo(32)}`, 'with phases=true, from and to must not be more than 31 days apart'],
    [
      'latency',
      `phases=true&step=5m&from=${daysAgo(4)}`,
      'with step=5m, from and to must not be more than 3 days apart',
    ],
    ['latency', `from=${daysAgo(399)}`, null],
    ['heatmap', `from=${daysAgo(30)}`, null],
    ['heatmap', `from=${daysAgo(32)}`, 'with step=1h, from and to must not be more than 31 days apart'],
    ['heatmap', `step=5m&from=${daysAgo(4)}`, 'with step=5m, from and to must not be more than 3 days apart'],
    ['heatmap', `from=${daysAgo(91)}&to=${daysAgo(89)}`, 'with step=1h, from must not be more than 90 days ago'],
    ['heatmap', `from=${daysAgo(1)}&to=${daysAgo(2)}`, 'from must not be after to'],
    ['heatmap', 'step=1m', 'step must be one of 1h, 5m'],
    ['heatmap', 'region=mars', 'region must be one of us-east'],
    ['latency', 'phases=yes', 'phases'],
  ]
  for (const [what, query, message] of rows) {
    const { status, body } = await api.call('GET', `/analytics/${what}?monitor_id=${id}&${query}`, { key })
    t.equal(status, message === null ? 200 : 400, query)
    if (message !== null) t.match(body.error.details[0].message, message, query)
  }
  t.equal((await api.call('GET', '/analytics/heatmap', { key })).status, 400)
  t.equal((await api.call('GET', `/analytics/heatmap?monitor_id=${id}`, { key: null })).status, 401)
})

t.test('GET /analytics/heatmap and steps of the latency 404 for a monitor of another tenant', async t => {
  const { key } = await api.tenant()
  const theirs = await insertMonitor(api.db, (await api.tenant()).projectId)
  for (const id of [theirs, '01a1fb92-bd2c-74bd-b89d-7c289ceb0999', 'x']) {
    for (const path of [`heatmap?monitor_id=${id}`, `latency?phases=true&step=5m&monitor_id=${id}`]) {
      t.equal((await api.call('GET', `/analytics/${path}`, { key })).status, 404, path)
    }
  }
})

t.test('GET /analytics/heatmap and steps of the latency 503 while ClickHouse is unreachable', async t => {
  const away = createClickhouse('http://127.0.0.1:9')
  t.teardown(() => away.close())
  const resource = await createResourceApi(t, (app, handles) => latencyRoutes(app, { ...handles, clickhouse: away }))
  const { call, projectId } = await resource.account()
  const id = await insertMonitor(resource.db, projectId)
  for (const path of [`heatmap?monitor_id=${id}`, `latency?step=5m&monitor_id=${id}`]) {
    t.match(await call(`GET /analytics/${path}`), { status: 503, body: { error: { code: 'unavailable' } } }, path)
  }
})
