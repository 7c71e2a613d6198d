import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import type { Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { applyFetch, archiveMissing } from '../../control-plane/integrations/data-sources/children/apply-actions.ts'
import { listSourcesWithMissing } from '../../control-plane/integrations/data-sources/children/child-store.ts'
import { fetchSoon } from '../../control-plane/integrations/data-sources/configuration/source-store.ts'
import {
  type ClaimedSource,
  claimDue,
  endFetches,
  findNextDueAt,
} from '../../control-plane/integrations/data-sources/fetching/claim-store.ts'
import { buildFetchEnd, buildRelease } from '../../control-plane/integrations/data-sources/fetching/fetch-result.ts'
import { startDataSourceWorker } from '../../control-plane/integrations/data-sources/fetching/worker.ts'
import { changeComponent, createComponent } from '../../control-plane/pages/admin/components/component-actions.ts'
import { pauseMonitor, resumeMonitor } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { changeWindow, createWindow, planDueWindows } from '../../control-plane/verdict/maintenance/actions.ts'
import { listPeriods } from '../../control-plane/verdict/maintenance/store.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { insertIncident, insertIncidentMonitor } from '../support/aged.ts'
import { createApplyTools, createSource, LEASE_MS } from '../support/child-sources.ts'
import { createDatabase } from '../support/database.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { waitFor } from '../support/wait.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())
const tools = createApplyTools(db)
const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000)

const toStatuses = (rows: { key: string; status: string | null }[]) =>
  Object.fromEntries(rows.map(({ key, status }) => [key, status]))

t.test('Without a source a process queries every ten seconds', async t => {
  const queries: { sql: string; atMs: number }[] = []
  const note = ({ sql }: { sql: string }) => void queries.push({ sql, atMs: performance.now() })
  db.on('query', note)
  // without a fetch no history is written
  const nats = {} as Nats
  const worker = startDataSourceWorker({
    ...{ ...tools, nats, log: createLog('test', 'silent'), metrics: createMetrics() },
    egress: createEgress({ allow: [] }),
  })
  await waitFor(() => queries.length > 2, { label: 'a third query' })
  await worker.stop()
  db.off('query', note)
  // the second one may come sooner
  const [, second, third] = queries
  t.equal(third?.sql, second?.sql)
  const gapMs = third!.atMs - second!.atMs
  // rounds are aligned within the process and begin up to 250 ms earlier
  t.ok(gapMs >= 9_500, `${gapMs} ms`)
})

t.test('A value becomes a monitor with a verdict, an incident, an alert and an explanation', async t => {
  const source = await createSource(db)
  t.ok(await source.fetch({ a: 'up', b: 'down', c: 'degraded', d: 'unknown' }))
  t.same(toStatuses(await source.monitors()), { a: 'up', b: 'down', c: 'degraded', d: null })
  t.same((await source.events()).sort(), ['monitor.degraded', 'monitor.down'])
  t.match(await source.incidents(), [{ title: 'Cell b is down', status: 'investigating' }])
  const [transition] = await query<{ summary: string; explanation: object }>(
    db,
    "SELECT summary, explanation FROM transitions WHERE project_id = ? AND to_status = 'down'",
    [source.projectId],
  )
  t.equal(transition?.summary, 'cells.b is down.')
  t.match(transition?.explanation, {
    data_source: { field_id: source.fieldId, key: 'b', rule: 'truthy', value: 'down', reason: 'cells.b is down' },
  })
  t.same(
    await query(db, 'SELECT count(*) AS rules FROM alert_rules WHERE project_id = ?', [source.projectId]),
    [{ rules: 4 }],
    'each has a rule for the default channel',
  )
})

t.test('A value that is bad and then only degraded is shown as degraded at once, and its outage goes on', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'down' })
  t.ok(await source.fetch({ a: 'degraded' }))
  t.same(toStatuses(await source.monitors()), { a: 'degraded' })
  t.match(await source.incidents(), [{ status: 'investigating' }])
  await source.fetch({ a: 'up' })
  t.match(await source.incidents(), [{ status: 'resolved' }])
})

t.test('An unchanged result needs no transaction', async t => {
  const source = await createSource(db)
  t.ok(await source.fetch({ a: 'up', b: 'down' }))
  t.notOk(await source.fetch({ a: 'up', b: 'down' }))
  t.ok(await source.fetch({ a: 'up', b: 'up' }))
  t.same(await source.events(), ['monitor.down', 'monitor.up'])
})

t.test('An unreachable source makes its monitors unknown and sends no alert', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up', b: 'down', c: 'degraded' })
  const before = await source.events()
  t.notOk(await source.fails(), 'the first failure is confirmed by a second fetch')
  t.ok(await source.fails())
  t.same(toStatuses(await source.monitors()), { a: null, b: null, c: null })
  t.match(await source.incidents(), [{ status: 'investigating' }], 'the open incident stays open')
  t.notOk(await source.fails(), 'nothing has changed since')
  t.ok(await source.fetch({ a: 'up', b: 'down', c: 'degraded' }))
  t.same(toStatuses(await source.monitors()), { a: 'up', b: 'down', c: 'degraded' })
  t.same(await source.events(), before)
  t.equal((await source.incidents()).length, 1, 'it is the same outage')
})

t.test('A source that fails every other time changes nothing and is fetched again within seconds', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up', b: 'down' })
  for (let i = 0; i < 3; i++) {
    t.notOk(await source.fails())
    const [row] = await query<{ isSoon: boolean; failures: number; lastError: string | null }>(
      db,
      `SELECT next_fetch_at < now() + interval '4 s' AS "isSoon", failures, last_error AS "lastError"
       FROM data_sources WHERE id = ?`,
      [source.id],
    )
    t.match(row, { isSoon: true, failures: 0, lastError: /status 500/ })
    t.notOk(await source.fetch({ a: 'up', b: 'down' }))
  }
  const [count] = await query(db, 'SELECT count(*) AS transitions FROM transitions WHERE project_id = ?', [
    source.projectId,
  ])
  t.same(count, { transitions: 2 })
})

t.test('An outage that ended while the source was unreachable is resolved and announced', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'down' })
  for (let i = 0; i < 2; i++) await source.fails()
  await source.fetch({ a: 'up' })
  t.match(await source.incidents(), [{ status: 'resolved' }])
  t.same(await source.events(), ['monitor.down', 'monitor.up'])
  const transitions = await query(
    db,
    'SELECT from_status AS "from", to_status AS "to" FROM transitions WHERE project_id = ? ORDER BY at, id',
    [source.projectId],
  )
  t.same(transitions, [
    { from: null, to: 'down' },
    { from: 'down', to: null },
    { from: null, to: 'up' },
  ])
})

t.test('Three consecutive failures open an incident of the source, and a success resolves it', async t => {
  const source = await createSource(db)
  for (let i = 0; i < 2; i++) await source.fails()
  t.same(await source.incidents(), [])
  await source.fails()
  const incident = { title: 'Data source Cells cannot be fetched', severity: 'minor' }
  t.same(await source.incidents(), [{ ...incident, status: 'investigating' }])
  for (let i = 0; i < 3; i++) t.notOk(await source.fails())
  await source.fetch({})
  t.same(await source.incidents(), [{ ...incident, status: 'resolved' }])
  t.match(await query(db, 'SELECT failures, last_error, incident_id FROM data_sources WHERE id = ?', [source.id]), [
    { failures: 0, last_error: null, incident_id: null },
  ])
})

t.test('Internal faults do not count as failures of a source', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up' })
  for (let i = 0; i < 4; i++) await source.fails(true)
  t.same(await source.incidents(), [])
  t.same(toStatuses(await source.monitors()), { a: null })
})

t.test('A name follows the template until a user changes it', async t => {
  const source = await createSource(db)
  await source.names({ a: 'One', b: 'One' })
  await source.names({ a: 'Two', b: 'Two' })
  const [first] = await source.monitors()
  await execute(db, "UPDATE monitors SET name = 'Mine' WHERE id = ?", [first!.id])
  await source.names({ a: 'Three', b: 'Three' })
  t.same(
    (await source.monitors()).map(({ name }) => name),
    ['Mine', 'Three'],
  )
})

t.test('The monitor of a missing key is unknown, archived after a day, and restored with its key', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up', b: 'down' })
  await source.fetch({ a: 'up' })
  t.same(toStatuses(await source.monitors()), { a: 'up', b: null })
  await archiveMissing(tools, source.id, new Date())
  t.notOk((await source.monitors())[1]!.isGone)
  const [, before] = await source.monitors()
  await source.fetch({ a: 'up' }, hoursFromNow(25))
  await archiveMissing(tools, source.id, hoursFromNow(25))
  t.ok((await source.monitors())[1]!.isGone)
  t.match(await source.incidents(), [{ status: 'resolved' }])
  t.same(await source.events(), ['monitor.down'], 'no monitor.up, because the status is unknown')
  await source.fetch({ a: 'up', b: 'up' })
  t.match((await source.monitors())[1], { id: before!.id, status: 'up', isGone: false })
})

t.test('A key that one document did not contain is not archived by a day without a successful fetch', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up', b: 'down' })
  await source.fetch({ a: 'up' })
  await source.fails()
  const review = async () => {
    const listed = await listSourcesWithMissing(db, hoursFromNow(25), 100)
    await archiveMissing(tools, source.id, hoursFromNow(25))
    return [listed.includes(source.id), (await source.monitors())[1]!.isGone]
  }
  t.same(await review(), [false, false])
  await source.fetch({ a: 'up' }, hoursFromNow(23))
  t.same(await review(), [false, false], 'missing for less than a day when the last document arrived')
  await source.fetch({ a: 'up' }, hoursFromNow(24.5))
  t.same(await review(), [true, true])
})

t.test('A monitor that returns from the archive keeps its status page component and its maintenance', async t => {
  const source = await createSource(db)
  const { projectId } = source
  await source.fetch({ a: 'up', b: 'up' })
  const ids = (await source.monitors()).map(({ id }) => id)
  const pageId = await insertStatusPage(db, projectId, 'cells')
  const component = await createComponent(db, projectId, pageId, { name: 'B', monitor_id: ids[1]! }, new Date())
  const at = (time: string) => new Date(`2026-03-${time}Z`)
  const maintenance = { db, review: async () => {}, limits: DEFAULT_LIMITS }
  const nightly = { title: 'Backup', cron: '30 2 * * *', duration_minutes: 60, time_zone: 'UTC', monitor_ids: ids }
  const window = await createWindow(maintenance, projectId, nightly, at('10T12:00'))
  await source.fetch({ a: 'up' })
  await source.fetch({ a: 'up' }, hoursFromNow(25))
  await archiveMissing(tools, source.id, hoursFromNow(25))
  t.ok((await source.monitors())[1]!.isGone)
  await changeComponent(db, projectId, pageId, component.id, { name: 'Cell B' }, new Date())
  await changeWindow(maintenance, projectId, window.id, { title: 'Nightly backup' }, at('10T13:00'))
  await planDueWindows(db, 10, at('11T02:30'))
  await source.fetch({ a: 'up', b: 'up' })
  t.notOk((await source.monitors())[1]!.isGone)
  const sql = 'SELECT name, monitor_id AS "monitorId" FROM status_page_components WHERE id = ?'
  t.same(await query(db, sql, [component.id]), [{ name: 'Cell B', monitorId: ids[1] }])
  const nights = [11, 12].map(day => ({ startsAt: at(`${day}T02:30`), endsAt: at(`${day}T03:30`) }))
  for (const id of ids) t.same(await listPeriods(db, projectId, id, at('10T00:00'), at('31T00:00')), nights)
})

t.test('Documents with new keys leave at most 200 active and 200 archived monitors', async t => {
  const source = await createSource(db)
  const incidentId = await insertIncident(db, source.projectId, 0, { source: 'manual' })
  for (let i = 0; i < 5; i++) {
    const keys = Array.from({ length: 150 }, (_, k) => [`${i}-${k}`, k % 10 === 0 ? 'down' : 'up'] as const)
    await source.fetch(Object.fromEntries(keys))
    const first = (await source.monitors()).find(({ key }) => key === '0-1')
    if (i === 0) await insertIncidentMonitor(db, incidentId, first!.id)
  }
  const monitors = await source.monitors()
  t.equal(monitors.filter(({ isGone }) => !isGone).length, 200)
  t.equal(monitors.filter(({ isGone }) => isGone).length, 201, 'and the monitor of a manual incident')
  t.match(
    await query(db, 'SELECT monitor_id AS id FROM incident_monitors WHERE incident_id = ?', [incidentId]),
    [{ id: monitors.find(({ key }) => key === '0-1')?.id }],
    'which still concerns only this monitor',
  )
  const [{ count }] = (await query<{ count: number }>(
    db,
    'SELECT count(*) AS count FROM monitors WHERE project_id = ?',
    [source.projectId],
  )) as [{ count: number }]
  t.equal(count, 401, 'the others are deleted')
  t.equal(toStatuses(monitors)['4-0'], 'down')
})

t.test('A paused monitor does not change, and is evaluated again when it is resumed', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up' })
  const [monitor] = await source.monitors()
  await pauseMonitor(tools, source.projectId, monitor!.id, new Date())
  t.ok(await source.fetch({ a: 'down' }))
  t.same(await source.events(), [])
  await resumeMonitor(tools, source.projectId, monitor!.id, new Date())
  t.ok((await findNextDueAt(db))! <= new Date(), 'it is due now')
  t.notOk(await source.fails(), 'the first failure is still confirmed by a second fetch')
  t.ok(await source.fetch({ a: 'down' }), 'although the result is unchanged')
  t.same(await source.events(), ['monitor.down'])
})

t.test('The result of a source that was changed during the fetch is discarded', async t => {
  const source = await createSource(db)
  const claimed = await source.claim()
  await execute(db, 'UPDATE data_sources SET revision = revision + 1 WHERE id = ?', [source.id])
  const result = { children: [source.child('a', 'down')], keys: 1 }
  const fetch = { source: claimed, result, startedAt: new Date(), endedAt: new Date(), responseTimeMs: 1 }
  t.notOk(await applyFetch(tools, 'one', fetch))
  t.same(await source.monitors(), [])
})

t.test('A source is claimed by one process, and by another after the lease expired', async t => {
  await execute(db, "UPDATE data_sources SET next_fetch_at = now() + interval '1 hour'")
  const source = await createSource(db)
  t.match(await claimDue(db, 'one', 100, LEASE_MS), [{ id: source.id }])
  t.same(await claimDue(db, 'two', 100, LEASE_MS), [])
  await execute(db, "UPDATE data_sources SET lease_until = now() - interval '1 ms' WHERE id = ?", [source.id])
  const [taken] = await claimDue(db, 'two', 100, LEASE_MS)
  await endFetches(db, 'one', [buildRelease(taken!, new Date(), 60_000)])
  t.same(await claimDue(db, 'three', 100, LEASE_MS), [], 'the earlier owner releases nothing')
  await db.transaction(tx => fetchSoon(tx, source.id, new Date()))
  await endFetches(db, 'two', [buildRelease(taken!, new Date(), 60_000)])
  t.match(await claimDue(db, 'three', 100, LEASE_MS), [{ id: source.id }], 'a refresh meanwhile keeps it due')
})

t.test('Slots follow the interval and are the same for every process', async t => {
  const source = await createSource(db, 30)
  const claimed = await source.claim()
  const at = new Date('2026-08-01T00:00:00Z')
  const first = buildFetchEnd({ ...buildFetch(claimed), endedAt: at }).nextAt!
  t.ok(first > at && first.getTime() - at.getTime() <= 30_000)
  const second = buildFetchEnd({ ...buildFetch(claimed), endedAt: new Date(first.getTime() + 29_999) }).nextAt!
  t.equal(second.getTime() - first.getTime(), 30_000)
})

const buildFetch = (source: ClaimedSource) => {
  return { source, result: { children: [], keys: 0 }, startedAt: new Date(), endedAt: new Date(), responseTimeMs: 1 }
}
