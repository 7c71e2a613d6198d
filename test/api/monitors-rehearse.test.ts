import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { type Clickhouse, createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startRecorder } from '../../control-plane/insight/analytics/recording/recorder.ts'
import { rehearsalRoutes } from '../../control-plane/insight/explanations/rehearsal/rehearsal-routes.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { FailureSource, Outcome, type Result } from '../../shared/checks/result.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { startNats } from '../support/nats.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'
import { createNextResult, insertMonitor, publish, readStatuses, startVerdictProcess } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
const PROBE = uuidv7()
const { url } = await createClickhouseDatabase(t)
await migrateClickhouse(url)
const clickhouse: Clickhouse = createClickhouse(url)
// nothing listens on this port
const away = createClickhouse('http://127.0.0.1:1/picket')
let history = clickhouse
const log = createLog('test', 'silent')
const api = await createResourceApi(t, (app, handles) => {
  const context = {
    ...{ ...handles, watching: NO_HISTORY, readMonitoringState: NO_HISTORY, metrics: createMetrics() },
    get clickhouse() {
      return history
    },
  }
  rehearsalRoutes(app, context)
  monitorRoutes(app, context)
  monitorLifecycleRoutes(app, context)
})
const server = await startNats(t)
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
await execute(
  api.db,
  `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at)
   SELECT region, 1, ARRAY[CAST(:probe AS uuid)], now() FROM unnest(CAST(:regions AS text[])) region`,
  { probe: PROBE, regions: REGIONS },
)
await startVerdictProcess(t, api.url, server.url)
const recorder = startRecorder({ db: api.db, nats, clickhouse, log, metrics: createMetrics() })
t.teardown(async () => {
  await recorder.stop()
  await nats.close()
  await Promise.all([clickhouse.close(), away.close()])
})

const refused = { source: FailureSource.TARGET, code: 'connection_refused', message: 'refused' }
const FAILED = { up: false, outcome: Outcome.DOWN, statusCode: 0, error: refused }
const check = (id: string, region: string, up: boolean, rest: Partial<Result> = {}) =>
  publish(nats, [createNextResult(id, { ...(up ? { up } : FAILED), ...rest })], region, PROBE)

async function waitForStatuses(id: string, statuses: string): Promise<void> {
  await waitFor(async () => (await readStatuses(api.db, id)) === statuses, { label: statuses })
}

/** A monitor in three regions whose target was down once: two failures in a row in two regions. */
async function insertOutage({ projectId }: Account): Promise<string> {
  const id = await insertMonitor(api.db, projectId, { regions: REGIONS, retryCount: 1 })
  for (const region of REGIONS) await check(id, region, true)
  await waitForStatuses(id, 'up')
  for (const region of ['us-east', 'eu-west', 'us-east', 'eu-west']) await check(id, region, false)
  await waitForStatuses(id, 'up down')
  for (const region of ['us-east', 'eu-west', 'us-east', 'eu-west']) await check(id, region, true)
  await waitForStatuses(id, 'up down up')
  // the verdict is made before the last result is in the history
  await waitFor(async () => (await countResults(id)) === 11, { label: 'the results in the history' })
  return id
}

async function countResults(id: string): Promise<number> {
  const sql = 'SELECT count() AS n FROM results FINAL WHERE monitor_id = {id:UUID}'
  return Number((await select<{ n: string }>(clickhouse, sql, { id }))[0]?.n)
}

/** Rehearses when the history has everything. */
async function rehearseExactly({ call }: Account, id: string, settings: object) {
  let last = {}
  return waitFor(
    async () => {
      const { status, body } = await call(`POST /monitors/${id}/rehearse`, { settings })
      last = { status, error: body.error, reasons: body.data?.reasons }
      return status === 200 && !body.data.approximate ? body.data : null
    },
    { label: () => `a rehearsal that gives the stored transitions: ${JSON.stringify(last)}` },
  )
}

t.test('POST /monitors/{id}/rehearse 200 unchanged settings give the stored transitions', async t => {
  const account = await api.account()
  const id = await insertOutage(account)
  const rehearsed = await rehearseExactly(account, id, {})
  const { data: transitions } = (await account.call(`GET /monitors/${id}/transitions`)).body
  const [up, down] = transitions
  const failedAt = Date.parse(down.explanation.timings.first_failure_at)
  const outage = { from: down.at, to: up.at, detected_after_ms: Date.parse(down.at) - failedAt }
  t.match(rehearsed, { monitor_id: id, checks: 11, detected_later_ms: 0, reasons: [], limits: [] })
  t.same(rehearsed.before, { outage_count: 1, degradation_count: 0, outages: [outage], degradations: [] })
  t.same(rehearsed.after, rehearsed.before)
  t.equal(rehearsed.sentence, '1 outage, as before.')
})

t.test('POST /monitors/{id}/rehearse 200 other settings change the outages', async t => {
  const account = await api.account()
  const id = await insertOutage(account)
  const patient = await rehearseExactly(account, id, { retry_count: 3 })
  t.equal(patient.before.outage_count, 1)
  t.equal(patient.after.outage_count, 0, 'four failures in a row were never made')
  t.equal(patient.sentence, '1 outage becomes none.')
  t.same(
    patient.limits.map(({ code }: { code: string }) => code),
    ['rechecks_not_made', 'second_opinions_not_asked'],
  )
  const eager = await rehearseExactly(account, id, { retry_count: 0 })
  t.equal(eager.after.outage_count, 1)
  t.ok(Date.parse(eager.after.outages[0].from) < Date.parse(eager.before.outages[0].from), 'the first failures decide')
  t.ok(eager.detected_later_ms < 0)
  const elsewhere = await rehearseExactly(account, id, { regions: ['ap-southeast'] })
  t.equal(elsewhere.after.outage_count, 0, 'the target was up for this region')
  const unknown = await rehearseExactly(account, id, { regions: ['us-west'] })
  t.match(unknown, { after: null, detected_later_ms: null, limits: [{ code: 'region_not_checked' }] })
  const other = await rehearseExactly(account, id, {
    interval_seconds: 60,
    url: 'https://other.example',
    name: 'Other',
  })
  t.same(other.after, other.before)
  t.match(other.limits, [
    { code: 'interval_not_simulated' },
    { code: 'setting_not_simulated', message: 'These settings need other checks and are not simulated: url.' },
  ])
})

t.test('POST /monitors/{id}/rehearse 200 slow answers under a lower timeout and a response time limit', async t => {
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId, { regions: ['us-east'], retryCount: 0 })
  const slow = {
    totalUs: 2_500_000,
    timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 2_500_000, transferUs: 0 },
  }
  await check(id, 'us-east', true)
  await waitForStatuses(id, 'up')
  await check(id, 'us-east', true, slow)
  await check(id, 'us-east', true)
  await check(id, 'us-east', false)
  await waitForStatuses(id, 'up down')
  const impatient = await rehearseExactly(account, id, { timeout_ms: 2_000 })
  t.match(impatient, { before: { outage_count: 1 }, after: { outage_count: 2 } })
  t.equal(impatient.before.outages[0].to, null, 'the outage has not ended')
  t.match(impatient.limits, [{ code: 'timeout_not_measured' }, { code: 'second_opinions_not_asked' }])
  const limit = { type: 'response_time', operator: 'less_than', value: '1000' }
  const degraded = await rehearseExactly(account, id, { assertions: [limit] })
  t.match(degraded.after, { outage_count: 1, degradation_count: 1 })
  const status = { type: 'status_code', operator: 'equals', value: '201' }
  const others = await rehearseExactly(account, id, { assertions: [status] })
  t.match(others, { after: { outage_count: 1, degradation_count: 0 }, limits: [{ code: 'assertions_not_simulated' }] })
})

t.test('POST /monitors/{id}/rehearse 200 a pause, a change and results of foreign probes are followed', async t => {
  const account = await api.account()
  const id = await insertOutage(account)
  await account.call(`POST /monitors/${id}/pause`)
  await account.call(`POST /monitors/${id}/resume`)
  const next = { configVersion: 2 }
  for (const region of REGIONS) await publish(nats, [createNextResult(id, { ...FAILED, ...next })], region, uuidv7())
  for (const region of REGIONS) await check(id, region, true, next)
  await waitForStatuses(id, 'up down up null up')
  t.equal((await account.call(`PUT /monitors/${id}`, { retry_count: 0 })).status, 200)
  for (const region of REGIONS) await check(id, region, false, { configVersion: 3 })
  await waitForStatuses(id, 'up down up null up down')
  const rehearsed = await rehearseExactly(account, id, {})
  t.match(rehearsed.after, { outage_count: 2 })
  t.same(rehearsed.after, rehearsed.before)
})

t.test('POST /monitors/{id}/rehearse 200 approximate where inputs are not stored', async t => {
  const account = await api.account()
  const id = await insertOutage(account)
  await rehearseExactly(account, id, {})
  await execute(api.db, 'DELETE FROM monitor_policies WHERE monitor_id = ?', [id])
  const before = (await account.call(`POST /monitors/${id}/rehearse`, { settings: {} })).body.data
  t.match(before, { approximate: true, reasons: [{ code: 'settings_not_stored' }] })
  t.same(before.after, before.before, 'with the present settings the result is the same here')

  const lost = await insertOutage(account)
  await rehearseExactly(account, lost, {})
  await execute(
    api.db,
    `UPDATE transitions SET at = at - interval '90 s' WHERE monitor_id = ? AND to_status = 'down'`,
    [lost],
  )
  const other = (await account.call(`POST /monitors/${lost}/rehearse`, { settings: {} })).body.data
  t.match(other, { approximate: true, reasons: [{ code: 'differs_from_stored' }] })
})

t.test('POST /monitors/{id}/rehearse 400, 403, 404 and 409', async t => {
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId)
  const rehearse = (body: unknown) => account.call(`POST /monitors/${id}/rehearse`, body)
  const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString()
  for (const [body, path] of [
    [{}, 'settings'],
    [{ settings: { retry_count: 9 } }, 'settings.retry_count'],
    [{ settings: { retries: 1 } }, 'settings.retries'],
    [{ settings: { url: 'ftp://shop.example' } }, 'settings.url'],
    [{ settings: {}, from: 'yesterday' }, 'from'],
    [{ settings: {}, from: day(-1), to: day(-2) }, 'from'],
    [{ settings: {}, from: day(1) }, 'from'],
    [{ settings: {}, from: day(-31), to: day(0) }, 'from'],
  ] as const) {
    const { status, body: answer } = await rehearse(body)
    t.match({ status, details: answer.error.details }, { status: 400, details: [{ path }] }, JSON.stringify(body))
  }
  const read = await account.callWith('read')
  t.equal((await read(`POST /monitors/${id}/rehearse`, { settings: {} })).status, 403)
  const stranger = await api.account()
  const answers = [
    await stranger.call(`POST /monitors/${id}/rehearse`, { settings: {} }),
    await stranger.call(`POST /monitors/${uuidv7()}/rehearse`, { settings: {} }),
    await stranger.call('POST /monitors/none/rehearse', { settings: {} }),
  ]
  for (const { status, body } of answers) t.match({ status, ...body }, { status: 404, error: { code: 'not_found' } })
  t.equal(new Set(answers.map(({ body }) => body.error.message)).size, 1)
  const heartbeat = { name: 'Backup', type: 'heartbeat', heartbeat_interval: 60 }
  const { body } = await account.call('POST /monitors', heartbeat)
  t.equal((await account.call(`POST /monitors/${body.data.id}/rehearse`, { settings: {} })).status, 409)
})

t.test('POST /monitors/{id}/rehearse 503 while ClickHouse cannot be reached', async t => {
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId)
  history = away
  t.teardown(() => {
    history = clickhouse
  })
  const { status, body } = await account.call(`POST /monitors/${id}/rehearse`, { settings: {} })
  t.match({ status, code: body.error.code }, { status: 503, code: 'unavailable' })
})
