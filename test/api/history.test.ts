import t from 'tap'
import { type Clickhouse, createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import { DATA_SOURCE_REGION, HEARTBEAT_REGION } from '../../control-plane/monitoring/monitors/types.ts'
import { FailureSource, NO_DETAILS, Outcome, type Result, Trigger } from '../../shared/checks/result.ts'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { insertPeriod } from '../support/history-rows.ts'
import { insertLines } from '../support/insert-lines.ts'
import { readOperations } from '../support/operations.ts'
import { buildArrival, createResult } from '../support/results.ts'

const { url } = await createClickhouseDatabase(t)
const api = await startApi(t, { CLICKHOUSE_URL: url })
const { operations } = await readOperations(api)
const operation = (name: string) => operations.find(one => one.name === name)!
const clickhouse: Clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
const timeAt = (minutes: number) => new Date(hourMs + minutes * MINUTE_MS).toISOString()

const buildResult = (monitorId: string, minute: number, changes: Partial<Result> = {}) =>
  createResult(monitorId, hourMs + minute * MINUTE_MS, {
    startedAtMs: hourMs + minute * MINUTE_MS + 4,
    totalUs: (minute + 1) * 1_000,
    timings: { dnsUs: 100, connectUs: 200, tlsUs: 0, firstByteUs: 300, transferUs: 123 },
    ...changes,
  })

const ARRIVAL = buildArrival(buildResult('', 0))
const PROBE = '01a1fb92-bd2c-74bd-b89d-7c289ceb0470'
const record = (results: Result[], region: string) =>
  insertLines(
    clickhouse,
    `results (${RESULT_LINE_COLUMNS})`,
    results.map(result => toResultLine(result, encodeOrigin({ region, probeId: PROBE }), buildArrival(result))),
  )

async function createMonitor(key: string): Promise<string> {
  const { body } = await api.call('POST', '/monitors', { key, body: { name: 'Shop', type: 'http' } })
  return body.data.id
}

const failure = {
  outcome: Outcome.DOWN,
  statusCode: 0,
  resolvedIp: '',
  ...NO_DETAILS,
  error: { source: FailureSource.TARGET, code: 'connection_refused', message: 'the connection was refused' },
}

t.test('GET /monitors/{id}/checks 200 lists checks with their details, newest first, in pages', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  await record(
    [
      buildResult(id, 0),
      buildResult(id, 1, { ...failure, trigger: Trigger.RUN_NOW }),
      buildResult(id, 2, { outcome: Outcome.MISSED }),
    ],
    'us-east',
  )
  const { status, body } = await api.call('GET', `/monitors/${id}/checks`, { key })
  t.equal(status, 200)
  t.same(findAnswerDifferences(operation('GET /monitors/{id}/checks'), status, body), [])
  t.same(body.meta, { page: 1, per_page: 25, total: 3, total_pages: 1 })
  t.match(body.data, [
    { status: 'missed', scheduled_at: timeAt(2) },
    {
      status: 'down',
      trigger: 'run_now',
      scheduled_at: timeAt(1),
      status_code: null,
      resolved_ip: null,
      error: { source: 'target', code: 'connection_refused', message: 'the connection was refused' },
    },
    {
      monitor_id: id,
      region: 'us-east',
      probe_id: PROBE,
      status: 'up',
      scheduled_at: timeAt(0),
      attempt: 1,
      trigger: 'schedule',
      response_time_ms: 1,
      timings: { dns_ms: 0.1, connect_ms: 0.2, tls_ms: 0, first_byte_ms: 0.3, transfer_ms: 0.123 },
      status_code: 200,
      error: null,
      failed_assertions: [],
    },
  ])
  const second = await api.call('GET', `/monitors/${id}/checks?page=2&per_page=2`, { key })
  t.same(second.body.data, [body.data[2]])
  t.same(second.body.meta, { page: 2, per_page: 2, total: 3, total_pages: 2 })
})

t.test(
  'GET /monitors/{id}/checks 200 shows the evidence of a failed check, the loss of a ping and the records of a dns check',
  async t => {
    const { key } = await api.tenant()
    const id = await createMonitor(key)
    const certificate = {
      subject: 'CN=shop.example.com',
      issuer: 'CN=An authority',
      validFromMs: hourMs,
      validToMs: hourMs + HOUR_MS,
      names: ['shop.example.com'],
      fingerprint: 'ab'.repeat(32),
    }
    const evidence = {
      headers: { 'content-type': 'text/plain; charset=iso-8859-1', 'set-cookie': '********' },
      body: Buffer.from('caf\xe9', 'latin1'),
      chain: [certificate],
    }
    const ping = { sent: 3, received: 1, rttMinUs: 1_000, rttAvgUs: 1_500, rttMaxUs: 2_125 }
    const records = [{ type: 'MX', name: 'example.com', ttlS: 300, value: '10 mail.example.com.' }]
    await record(
      [
        buildResult(id, 0, { ...failure, evidence, certificate }),
        buildResult(id, 1, { ping }),
        buildResult(id, 2, { dns: { rcode: 'NOERROR', server: '192.0.2.53', records } }),
      ],
      'us-east',
    )
    const { status, body } = await api.call('GET', `/monitors/${id}/checks`, { key })
    t.same(findAnswerDifferences(operation('GET /monitors/{id}/checks'), status, body), [])
    const shown = {
      subject: 'CN=shop.example.com',
      issuer: 'CN=An authority',
      valid_from: timeAt(0),
      valid_to: timeAt(60),
      names: ['shop.example.com'],
      fingerprint: 'ab'.repeat(32),
    }
    t.match(body.data, [
      {
        evidence: null,
        certificate: null,
        ping: null,
        dns: {
          rcode: 'NOERROR',
          server: '192.0.2.53',
          records: [{ type: 'MX', name: 'example.com', ttl_seconds: 300 }],
        },
      },
      { ping: { sent: 3, received: 1, loss_percent: 66.7, rtt_min_ms: 1, rtt_avg_ms: 1.5, rtt_max_ms: 2.125 } },
      { evidence: { headers: evidence.headers, body: 'café', chain: [shown] }, certificate: shown, dns: null },
    ])
  },
)

t.test('GET /monitors/{id}/checks 200 filters by region, status and time; 400 for invalid values', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  await record([buildResult(id, 0), buildResult(id, 1, failure)], 'us-east')
  await record([buildResult(id, 2)], 'eu-west')
  const times = async (filter: string) => {
    const { body } = await api.call('GET', `/monitors/${id}/checks?${filter}`, { key })
    return body.data.map((check: { scheduled_at: string }) => check.scheduled_at)
  }
  t.same(await times('region=us-east'), [timeAt(1), timeAt(0)])
  t.same(await times('region=us-east,eu-west&status=up'), [timeAt(2), timeAt(0)])
  t.same(await times('status=down,degraded'), [timeAt(1)])
  t.same(await times(`from=${timeAt(1)}&to=${timeAt(2)}`), [timeAt(1)], 'from is included, to is not')
  for (const filter of ['region=mars', 'status=up,', 'status=paused']) {
    t.equal((await api.call('GET', `/monitors/${id}/checks?${filter}`, { key })).status, 400, filter)
  }
})

t.test('GET /monitors/{id}/checks 200 has each check once, however many there are of one slot', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  for (let i = 0; i < 12; i++) {
    const probeId = `01a1fb92-bd2c-74bd-b89d-7c289ceb0${100 + ((i * 7) % 12)}`
    const line = toResultLine(buildResult(id, 0), encodeOrigin({ region: 'us-east', probeId }), ARRIVAL)
    await insertLines(clickhouse, `results (${RESULT_LINE_COLUMNS})`, [line])
  }
  const probes: string[] = []
  for (let page = 1; page <= 12; page++) {
    const { body } = await api.call('GET', `/monitors/${id}/checks?per_page=1&page=${page}`, { key })
    probes.push(body.data[0].probe_id)
  }
  t.equal(new Set(probes).size, 12)
  t.same(probes, probes.toSorted())
})

t.test('GET /monitors/{id}/checks 200 begins 31 days before to, 400 for a longer range', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  const days = (count: number) => count * 24 * 60
  const old = [30, 33].map(count => buildResult(id, -days(count), { totalUs: 1_000 }))
  await record([buildResult(id, 0), ...old], 'us-east')
  const times = async (filter: string) => {
    const { body } = await api.call('GET', `/monitors/${id}/checks?${filter}`, { key })
    return body.data.map((check: { scheduled_at: string }) => check.scheduled_at)
  }
  t.same(await times(''), [timeAt(0), timeAt(-days(30))])
  t.same(await times(`to=${timeAt(-days(31))}`), [timeAt(-days(33))])
  t.same(await times(`from=${timeAt(-days(33))}&to=${timeAt(-days(2))}`), [timeAt(-days(30)), timeAt(-days(33))])
  const refused = {
    [`from=${timeAt(-days(33))}`]: 'from and to must not be more than 31 days apart; to defaults to now',
    [`from=${timeAt(1)}&to=${timeAt(0)}`]: 'from must not be after to, which defaults to now',
  }
  for (const [filter, message] of Object.entries(refused)) {
    const { status, body } = await api.call('GET', `/monitors/${id}/checks?${filter}`, { key })
    t.match({ status, body }, { status: 400, body: { error: { message, details: [{ path: 'from' }] } } }, filter)
  }
  const heartbeat = { name: 'Backup', type: 'heartbeat', heartbeat_interval: 3_600, heartbeat_grace: 60 }
  const created = await api.call('POST', '/monitors', { key, body: heartbeat })
  const answer = await api.call('GET', `/monitors/${created.body.data.id}/checks?from=${timeAt(-days(80))}`, { key })
  t.equal(answer.status, 200, 'heartbeats have no longest range')
})

t.test(
  'GET /analytics/latency 200 returns hourly percentiles of successful checks, for all regions or one',
  async t => {
    const { key } = await api.tenant()
    const id = await createMonitor(key)
    await record(
      Array.from({ length: 50 }, (_, minute) => buildResult(id, minute)),
      'us-east',
    )
    await record(
      [
        buildResult(id, 51, { totalUs: 500_000 }),
        buildResult(id, 61),
        buildResult(id, 52, { ...failure, totalUs: 9_000_000 }),
      ],
      'eu-west',
    )
    const { status, body } = await api.call('GET', `/analytics/latency?monitor_id=${id}`, { key })
    t.equal(status, 200)
    t.same(findAnswerDifferences(operation('GET /analytics/latency'), status, body), [])
    t.match(body.data, [
      { hour: timeAt(0), region: null, count: 51, min: 1, max: 500 },
      { hour: timeAt(60), region: null, count: 1, p50: 62, p75: 62, p90: 62, p95: 62, p99: 62, avg: 62 },
    ])
    const [first] = body.data
    t.ok(first.p50 >= 25 && first.p50 <= 27 && first.p90 >= 45 && first.p90 <= 47, 'the middle and the ninth tenth')
    const east = await api.call('GET', `/analytics/latency?monitor_id=${id}&region=us-east`, { key })
    t.match(east.body.data, [{ hour: timeAt(0), region: 'us-east', count: 50, max: 50, avg: 25.5 }])
    const earlier = `from=${timeAt(-120)}&to=${timeAt(0)}`
    t.same((await api.call('GET', `/analytics/latency?monitor_id=${id}&${earlier}`, { key })).body.data, [])
  },
)

t.test('GET /analytics/latency 200 accepts the regions of data sources and heartbeats', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  await record([buildResult(id, 0, { totalUs: 40_000 })], DATA_SOURCE_REGION)
  const latency = async (region: string) => {
    const { status, body } = await api.call('GET', `/analytics/latency?monitor_id=${id}&region=${region}`, { key })
    return status === 200 ? body.data : body.error.message
  }
  const { body } = await api.call('GET', `/monitors/${id}/checks`, { key })
  t.match(body.data, [{ region: DATA_SOURCE_REGION }])
  t.match(await latency(body.data[0].region), [{ hour: timeAt(0), region: DATA_SOURCE_REGION, count: 1, max: 40 }])
  t.same(await latency(HEARTBEAT_REGION), [])
  t.match(await latency('moon'), /region must be one of us-east, .*, heartbeat, data-source/)
})

t.test('GET /analytics/latency 200 covers whole hours and returns their range in meta', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  await record([buildResult(id, 5), buildResult(id, 50)], 'us-east')
  const ask = async (span: string) => {
    const { status, body } = await api.call('GET', `/analytics/latency?monitor_id=${id}&${span}`, { key })
    t.same(findAnswerDifferences(operation('GET /analytics/latency'), status, body), [])
    return body
  }
  const within = await ask(`from=${timeAt(40)}&to=${timeAt(45)}`)
  t.match(within.data, [{ hour: timeAt(0), count: 2 }])
  t.same(within.meta, { from: timeAt(0), to: timeAt(60) })
  t.same((await ask(`from=${timeAt(-1)}&to=${timeAt(60)}`)).meta, { from: timeAt(-60), to: timeAt(60) })
  t.same((await ask(`from=${timeAt(-1)}&to=${timeAt(61)}`)).meta, { from: timeAt(-60), to: timeAt(120) })
})

t.test('GET /analytics/latency 400 when from is after to, or the range exceeds 400 days', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  for (const span of [`from=${timeAt(1)}&to=${timeAt(0)}`, 'from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z']) {
    const { status, body } = await api.call('GET', `/analytics/latency?monitor_id=${id}&${span}`, { key })
    t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'from' }] } } }, span)
  }
})

t.test('GET /analytics/uptime 200 ends now at the latest: nothing is known of the future', async t => {
  const { key } = await api.tenant()
  const id = await createMonitor(key)
  const createdMs = Date.now() - HOUR_MS
  await execute(
    api.db,
    `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
     SELECT gen_random_uuid(), project_id, id, 'down', ?, 'full', '', '{}', now() FROM monitors WHERE id = ?`,
    [new Date(createdMs), id],
  )
  const read = async (fromMs: number, toMs: number) => {
    const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`
    return (await api.call('GET', `/analytics/uptime?monitor_id=${id}&${range}`, { key })).body.data
  }
  const askedMs = Date.now()
  const today = await read(createdMs, askedMs + 12 * HOUR_MS)
  const toMs = Date.parse(today.to)
  t.ok(toMs <= Date.now())
  // the API has the time of PostgreSQL, which it knows to some milliseconds, so the hour may lack them
  t.ok(toMs > askedMs - MINUTE_MS, today.to)
  t.equal(today.seconds.down, (toMs - createdMs) / 1_000)
  t.equal(today.intervals.at(-1).to, today.to)
  const tomorrow = await read(Date.now() + HOUR_MS, Date.now() + 2 * HOUR_MS)
  t.match(tomorrow, { uptime_percentage: null, intervals: [], seconds: { down: 0 } })
  t.equal(tomorrow.from, tomorrow.to)
})

t.test('GET /analytics/uptime 200 lists at most 10,000 intervals, and counts the time of all of them', async t => {
  const { key, projectId } = await api.tenant()
  const id = await createMonitor(key)
  // 24,000 changes, every 100 ms: up for 100 ms, down for 100 ms, without a status for 100 ms
  const startMs = hourMs - 3 * HOUR_MS
  await execute(
    api.db,
    `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
     SELECT gen_random_uuid(), :projectId, :id, (ARRAY['up', 'down', NULL])[1 + i % 3],
       CAST(:start AS timestamptz) + i * interval '100 ms', 'full', '', '{}', now()
     FROM generate_series(0, 23999) i`,
    { projectId, id, start: new Date(startMs) },
  )
  const second = (seconds: number) => new Date(startMs + seconds * 1_000)
  await insertPeriod(api.db, projectId, id, second(600), second(900))
  await insertPeriod(api.db, projectId, id, second(1_500), second(2_100))
  const read = async (from: string) => {
    const path = `/analytics/uptime?monitor_id=${id}&from=${from}&to=${second(2_400).toISOString()}`
    const { status, body } = await api.call('GET', path, { key })
    t.equal(status, 200)
    t.same(findAnswerDifferences(operation('GET /analytics/uptime'), status, body), [])
    return body.data
  }
  const first = await read(second(-100).toISOString())
  t.equal(first.intervals.length, 10_000)
  t.equal(first.truncated, true)
  t.match(first.intervals[0], { status: 'unknown', to: second(0).toISOString() })
  t.same(
    [first.from, first.to],
    [second(-100), second(2_400)].map(time => time.toISOString()),
  )
  const rounded = Object.entries<number>(first.seconds).map(([name, seconds]) => [name, Math.round(seconds * 10) / 10])
  t.same(Object.fromEntries(rounded), { up: 500, degraded: 0, down: 500, unknown: 600 })
  t.equal(Math.round(first.maintenance_seconds * 10) / 10, 900)
  t.equal(first.uptime_percentage, 50)

  const pages = [first]
  while (pages.at(-1).truncated) pages.push(await read(pages.at(-1).intervals.at(-1).to))
  t.equal(pages.length, 3)
  const intervals = pages.flatMap(page => page.intervals)
  t.equal(intervals.length, 24_001, 'maintenance begins and ends with a change')
  t.ok(
    intervals.every((one, i) => i === 0 || one.from === intervals[i - 1].to),
    'without gaps',
  )
  t.equal(intervals.at(-1).to, first.to)
})
