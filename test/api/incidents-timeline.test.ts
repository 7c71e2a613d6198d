import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { type Clickhouse, createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import { timelineRoutes } from '../../control-plane/insight/explanations/timeline/timeline-routes.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { incidentRoutes } from '../../control-plane/verdict/incidents/api/routes.ts'
import { incidentUpdateRoutes } from '../../control-plane/verdict/incidents/api/update-routes.ts'
import {
  openAutomaticIncidents,
  resolveAutomaticIncidents,
} from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { FailureSource, Outcome, type Result } from '../../shared/checks/result.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { unwrapData } from '../support/client.ts'
import { insertLines } from '../support/insert-lines.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { buildArrival, createResult } from '../support/results.ts'
import { NO_HISTORY } from '../support/unwatched.ts'
import { insertChannel } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createClickhouseDatabase(t)
await migrateClickhouse(url)
const clickhouse: Clickhouse = createClickhouse(url)
// nothing listens on this port
const away = createClickhouse('http://127.0.0.1:1/picket')
t.teardown(() => Promise.all([clickhouse.close(), away.close()]))

let history = clickhouse
const api = await createResourceApi(t, (app, handles) => {
  const context = {
    ...handles,
    sign: () => '',
    get clickhouse() {
      return history
    },
  }
  timelineRoutes(app, context)
  incidentRoutes(app, handles)
  incidentUpdateRoutes(app, handles)
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})

/** The start of the newest outage. */
let startMs = Date.now()
const at = (seconds: number) => new Date(startMs + seconds * 1_000)
const failure = {
  outcome: Outcome.DOWN,
  statusCode: 0,
  error: { source: FailureSource.TARGET, code: 'timeout', message: 'no response' },
}

const record = (monitorId: string, seconds: number[], changes: Partial<Result> = {}, region = 'us-east') =>
  insertLines(
    clickhouse,
    `results (${RESULT_LINE_COLUMNS})`,
    seconds.map(one =>
      toResultLine(
        createResult(monitorId, startMs + one * 1_000, changes),
        encodeOrigin({ region, probeId: 'probe-1' }),
        buildArrival(createResult(monitorId, startMs + one * 1_000, changes)),
      ),
    ),
  )

const insertTransition = (
  account: Account,
  monitorId: string,
  from: string,
  to: string,
  seconds: number,
  votes: object[] = [],
) =>
  execute(
    api.db,
    `INSERT INTO transitions (id, project_id, monitor_id, from_status, to_status, at, quorum, summary, explanation,
       created_at)
     VALUES (gen_random_uuid(), :projectId, :monitorId, :from, :to, :at, 'full', :summary, :explanation, now())`,
    {
      ...{ projectId: account.projectId, monitorId, from, to, at: at(seconds), summary: `it is ${to}` },
      explanation: JSON.stringify({
        votes,
        timings: { first_failure_at: to === 'down' ? at(seconds - 35).toISOString() : null },
      }),
    },
  )

/** A monitor that is created and changed by the API, and then has an outage of 300 s. */
async function insertOutage(account: Account, isOver = true) {
  const body = { name: 'Shop', type: 'http' as const, url: 'https://shop.example/' }
  const { id: monitorId } = await unwrapData(account.picket.createMonitor({ body }))
  await unwrapData(account.picket.updateMonitor({ path: { id: monitorId }, body: { name: 'Store' } }))
  // later than the changes, whose times have more decimals
  startMs = Date.now() + 1
  const startedAt = new Date(startMs)
  const outage = { projectId: account.projectId, monitorId, monitorName: 'Shop', startedAt }
  const { incidents } = await api.db.transaction(async tx => {
    const opened = await openAutomaticIncidents(tx, [outage], api.publicUrl, startedAt)
    if (isOver) {
      const end = { monitorId, at: at(300), message: 'It is over.' }
      await resolveAutomaticIncidents(tx, [end], api.publicUrl, at(300))
    }
    return opened
  })
  return { monitorId, id: incidents[0]!.id }
}

/** A delivery about the incident, answered with 204 after one failed attempt. */
async function insertDelivery(account: Account, channelId: string, subject: string, data: object) {
  const row = { id: `whd_${uuidv7()}`, eventId: uuidv7(), projectId: account.projectId, channelId, subject }
  await execute(
    api.db,
    `INSERT INTO events (id, project_id, name, subject, data, occurred_at)
     VALUES (:eventId, :projectId, 'monitor.down', :subject, :data, now())`,
    { ...row, data: JSON.stringify(data) },
  )
  const attempt = (seconds: number, code: number) => ({
    ...{ at: at(seconds).toISOString(), response_code: code, duration_ms: 250, error: null, response_snippet: null },
  })
  await execute(
    api.db,
    `INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, attempts, created_at,
       updated_at)
     VALUES (:id, :projectId, :channelId, :eventId, 'monitor.down', :subject, 'delivered', :attempts, :at, now())`,
    { ...row, at: at(1), attempts: JSON.stringify([attempt(2, 500), attempt(4, 204)]) },
  )
  return row.id
}

const readTimeline = (account: Account, id: string) => unwrapData(account.picket.readIncidentTimeline({ path: { id } }))

/** The timeline with checks: an answer does not wait long for a busy ClickHouse. */
const waitForWholeTimeline = (account: Account, id: string) =>
  waitFor(
    async () => {
      const timeline = await readTimeline(account, id)
      return timeline.omitted.length === 0 ? timeline : null
    },
    { label: 'a timeline with checks' },
  )

t.test('GET /incidents/{id}/timeline 200 lists everything around an incident on one axis, oldest first', async t => {
  const account = await api.account()
  const { projectId } = account
  const { id, monitorId } = await insertOutage(account)
  await insertTransition(account, monitorId, 'up', 'down', 0)
  await insertTransition(account, monitorId, 'down', 'up', 300)
  await record(monitorId, [-1_000, -95, 200, 290, 400])
  await record(monitorId, [-35, -5, 55], failure)
  const channelId = await insertChannel(api.db, projectId, [monitorId])
  const deliveryId = await insertDelivery(account, channelId, `monitor:${monitorId}`, { incident: { id } })
  await insertDelivery(account, channelId, `monitor:${monitorId}`, { incident: { id: uuidv7() } })
  const windowId = uuidv7()
  await execute(
    api.db,
    `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at) VALUES (?, ?, ?, ?, ?)`,
    [projectId, monitorId, windowId, at(-60), at(100)],
  )
  const silences = { started: uuidv7(), over: uuidv7() }
  for (const [silenceId, from, to] of [
    [silences.started, -30, 500],
    [silences.over, -900, -800],
  ] as const) {
    const row = [silenceId, projectId, 'on a train', at(from), at(to)]
    await execute(
      api.db,
      'INSERT INTO alert_silences (id, project_id, reason, created_at, ends_at) VALUES (?, ?, ?, ?, ?)',
      row,
    )
    await execute(api.db, 'INSERT INTO alert_silence_monitors VALUES (?, ?)', [silenceId, monitorId])
  }
  const update = { message: 'We look at it.', is_internal: true }
  await account.call(`POST /incidents/${id}/updates`, update)

  const timeline = await waitForWholeTimeline(account, id)
  const times = timeline.items.map(item => new Date(item.at).getTime())
  t.same(
    times,
    [...times].sort((a, b) => a - b),
    'oldest first',
  )
  const all = <Kind extends string>(kind: Kind) => timeline.items.filter(item => item.kind === kind)
  t.match(all('check'), [
    {
      at: at(-95).toISOString(),
      region: 'us-east',
      monitor_id: monitorId,
      check: { status: 'up', probe_id: 'probe-1' },
    },
    { at: at(-35).toISOString(), check: { status: 'down', error: { source: 'target', code: 'timeout' } } },
    { at: at(-5).toISOString() },
    { at: at(55).toISOString() },
    { at: at(200).toISOString() },
    { at: at(290).toISOString() },
  ])
  t.equal(all('check').length, 6, 'three intervals before the first failure, one after the end')
  t.match(all('transition'), [
    {
      ...{ from: 'up', to: 'down', summary: 'it is down', has_explanation: true },
      explanation: { timings: { first_failure_at: at(-35).toISOString() } },
    },
    { from: 'down', to: 'up' },
  ])
  t.match(all('incident_opened'), [{ title: 'Shop is down', source: 'automatic', severity: 'major' }])
  t.match(all('incident_updated'), [
    { message: 'We look at it.', is_internal: true },
    { message: 'It is over.', status: 'resolved', is_internal: false },
  ])
  t.match(all('incident_resolved'), [{ at: at(300).toISOString() }])
  t.match(all('delivery'), [
    {
      ...{ delivery_id: deliveryId, event: 'monitor.down', alert_channel_id: channelId, channel_name: 'Hook' },
      ...{ channel_type: 'webhook', status: 'delivered', attempts: 2, response_code: 204 },
      received_at: at(4.25).toISOString(),
    },
  ])
  t.match(all('maintenance'), [{ window_id: windowId, name: null, ends_at: at(100).toISOString() }])
  t.same(all('silence'), [
    {
      ...{ at: at(-30).toISOString(), kind: 'silence', silence_id: silences.started, reason: 'on a train' },
      ...{ monitor_id: monitorId, ends_at: at(500).toISOString() },
    },
  ])
  t.match(all('change'), [
    { entry: { action: 'created', resource_id: monitorId } },
    { entry: { action: 'updated', changes: { name: { from: 'Shop', to: 'Store' } } } },
  ])
  t.match(timeline, { incident_id: id, monitor_ids: [monitorId], monitors_truncated: false, omitted: [] })
  for (const { kind, items, truncated } of timeline.counts) {
    t.equal(items, all(kind).length, `the number of ${kind}`)
    t.notOk(truncated, kind)
  }
})

t.test('GET /incidents/{id}/timeline 200 has no change that is older than an hour at the start', async t => {
  const account = await api.account()
  const { id, monitorId } = await insertOutage(account)
  for (const [seconds, name] of [
    [-3_599, 'newer'],
    [-3_601, 'older'],
  ] as const)
    await execute(
      api.db,
      `INSERT INTO audit_log (at, project_id, organization_id, actor_kind, actor_id, actor_name, action, resource, resource_id, changes)
       SELECT ?, project_id, organization_id, actor_kind, actor_id, actor_name, 'updated', resource, resource_id, ?
       FROM audit_log WHERE resource_id = ? AND action = 'created'`,
      [at(seconds), JSON.stringify({ name: { from: null, to: name } }), monitorId],
    )
  const { items } = await readTimeline(account, id)
  const changes = items.flatMap(item => (item.kind === 'change' ? item.entry : []))
  t.match(changes, [{ changes: { name: { to: 'newer' } } }, { action: 'created' }, { action: 'updated' }])
  t.equal(changes.length, 3)
})

t.test('GET /incidents/{id}/timeline 200 shows the acknowledgement, and incidents of vendors', async t => {
  const account = await api.account()
  const { id } = await insertOutage(account, false)
  await account.call(`POST /incidents/${id}/acknowledge`)
  const feedId = uuidv7()
  await execute(
    api.db,
    `INSERT INTO vendor_feeds (id, key, url, type, mapping, next_fetch_at)
     VALUES (:feedId, :feedId, 'https://status.example', 'statuspage', '{}', now())`,
    { feedId },
  )
  const dependencyId = uuidv7()
  await execute(
    api.db,
    `INSERT INTO dependencies (id, project_id, feed_id, name, category, status_url, feed_url, feed_type, feed_mapping,
       components, created_at, updated_at)
     VALUES (?, ?, ?, 'GitHub', 'code', 'https://status.example', 'https://status.example', 'statuspage', '{}', '{}',
       now(), now())`,
    [dependencyId, account.projectId, feedId],
  )
  await execute(
    api.db,
    `INSERT INTO vendor_incidents (id, project_id, dependency_id, source_id, title, severity, status, components,
       source_url, started_at, worst, created_at, updated_at)
     VALUES (gen_random_uuid(), ?, ?, '1', 'Slow pushes', 'major', 'investigating', '{}', 'https://status.example/1', ?,
       'degraded', now(), now())`,
    [account.projectId, dependencyId, at(-120)],
  )
  const { items } = await readTimeline(account, id)
  t.match(items[0], { kind: 'vendor_incident', name: 'GitHub', title: 'Slow pushes', at: at(-120).toISOString() })
  t.match(items.at(-1), { kind: 'incident_acknowledged', user_id: account.userId })
})

t.test('GET /incidents/{id}/timeline 200 says that there are more items than it lists', async t => {
  const account = await api.account()
  const { id, monitorId } = await insertOutage(account)
  await record(
    monitorId,
    Array.from({ length: 201 }, (_, second) => second / 10),
    failure,
  )
  const { counts, items } = await waitForWholeTimeline(account, id)
  const checks = counts.find(({ kind }) => kind === 'check')
  t.same(checks, { kind: 'check', items: 200, truncated: true })
  t.equal(items.filter(({ kind }) => kind === 'check').length, 200)
})

/** What a region says in an explanation, with its newest check. */
const buildVote = (region: string, state: 'ok' | 'failing', status: string, seconds: number) => ({
  ...{ region, state, votes: true, first_failure_at: state === 'failing' ? at(-35).toISOString() : null },
  last_check: { status, scheduled_at: at(seconds).toISOString(), attempt: 1, probe_id: 'probe-1' },
})
const evidence = (body: string) => ({ headers: { server: 'nginx' }, body: new TextEncoder().encode(body), chain: [] })

t.test('GET /incidents/{id}/timeline 200 has a failed and a healthy check of the decision to compare', async t => {
  const account = await api.account()
  const { id, monitorId } = await insertOutage(account)
  const votes = [buildVote('us-east', 'failing', 'down', -5), buildVote('eu-west', 'ok', 'up', -4)]
  await insertTransition(account, monitorId, 'up', 'down', 0, votes)
  await record(monitorId, [-35, -5], { ...failure, evidence: evidence('no capacity') })
  await record(monitorId, [-34, -4, 30], {}, 'eu-west')
  t.match((await waitForWholeTimeline(account, id)).evidence, {
    monitor_id: monitorId,
    failing: {
      ...{ region: 'us-east', scheduled_at: at(-5).toISOString(), error: { code: 'timeout' } },
      evidence: { headers: { server: 'nginx' }, body: 'no capacity' },
    },
    healthy: { region: 'eu-west', status: 'up', scheduled_at: at(-4).toISOString() },
  })
})

t.test('GET /incidents/{id}/timeline 200 compares with a check before, when every region failed', async t => {
  const account = await api.account()
  const { id, monitorId } = await insertOutage(account)
  await insertTransition(account, monitorId, 'up', 'down', 0, [buildVote('us-east', 'failing', 'down', -5)])
  await record(monitorId, [-35, -5], failure)
  t.match((await waitForWholeTimeline(account, id)).evidence, { failing: { status: 'down' }, healthy: null })
  await record(monitorId, [-3_700, -95, -65, 300])
  const { evidence } = await waitForWholeTimeline(account, id)
  t.match(evidence, { healthy: { region: 'us-east', status: 'up', scheduled_at: at(-65).toISOString() } })
})

t.test(
  'GET /incidents/{id}/timeline 200 without checks to compare, when they or their decision were deleted',
  async t => {
    const account = await api.account()
    const { id, monitorId } = await insertOutage(account)
    t.equal((await waitForWholeTimeline(account, id)).evidence, null)
    await insertTransition(account, monitorId, 'up', 'down', 0, [buildVote('us-east', 'failing', 'down', -5)])
    t.equal((await waitForWholeTimeline(account, id)).evidence, null)
  },
)

t.test('GET /incidents/{id}/timeline 200 without checks while ClickHouse is away, and names them', async t => {
  const account = await api.account()
  const { id, monitorId } = await insertOutage(account)
  await insertTransition(account, monitorId, 'up', 'down', 0, [buildVote('us-east', 'failing', 'down', 0)])
  await record(monitorId, [0], failure)
  history = away
  t.teardown(() => {
    history = clickhouse
  })
  const { items, omitted, counts, evidence } = await readTimeline(account, id)
  t.equal(evidence, null)
  t.same(omitted, [{ kind: 'check', reason: 'unavailable' }])
  t.notOk(counts.some(({ kind }) => kind === 'check'))
  t.ok(items.some(({ kind }) => kind === 'transition'))
})

t.test('GET /incidents/{id}/timeline 200 without the changes for keys below admin, and names them', async t => {
  const account = await api.account()
  const { id } = await insertOutage(account)
  for (const scope of ['read', 'write'] as const) {
    const { status, body } = await (await account.callWith(scope))(`GET /incidents/${id}/timeline`)
    t.equal(status, 200)
    t.match(body.data.omitted.at(-1), { kind: 'change', reason: 'insufficient_scope' }, scope)
    t.notOk(body.data.items.some(({ kind }: { kind: string }) => kind === 'change'))
  }
})

t.test('GET /incidents/{id}/timeline 404 for ids of another tenant, unknown and malformed ids', async t => {
  const account = await api.account()
  const theirs = await insertOutage(await api.account())
  for (const id of [theirs.id, '0190a0a0-0000-7000-8000-000000000000', 'nope']) {
    t.match(
      await account.call(`GET /incidents/${id}/timeline`),
      { status: 404, body: { error: { code: 'not_found' } } },
      id,
    )
  }
})
