import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { maintenanceRoutes } from '../../control-plane/verdict/maintenance/routes.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { unwrapAnswer, unwrapData } from '../support/client.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  maintenanceRoutes(app, { ...handles, review: scheduleReview })
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

const addMonitor = async (call: Call): Promise<string> =>
  (await call('POST /monitors', { name: 'Shop', type: 'http' })).body.data.id

const readPeriods = (windowId: string) =>
  query<{ monitor_id: string; starts_at: Date; ends_at: Date }>(
    api.db,
    'SELECT monitor_id, starts_at, ends_at FROM maintenance_periods WHERE window_id = ? ORDER BY starts_at, monitor_id',
    [windowId],
  )

t.test('POST /maintenance-windows 201 for one period, which is read, listed, changed and deleted', async t => {
  const { call, picket } = await api.account()
  const monitor_ids = [await addMonitor(call), await addMonitor(call)]
  const sent = { title: 'Move', monitor_ids, starts_at: inHours(1), ends_at: inHours(2) }
  const created = await picket.createMaintenanceWindow({ body: sent })
  t.equal(created.response.status, 201)
  const { id, created_at, updated_at, ...rest } = created.data!.data
  const NONE = { description: null, cron: null, duration_minutes: null, time_zone: null }
  const notices = { notify_subscribers: true, announce_minutes: 1_440 }
  t.same(rest, { ...sent, ...NONE, ...notices, status: 'scheduled', next_starts_at: sent.starts_at })
  t.equal(created_at, updated_at)
  const path = { id }
  t.same(await unwrapData(picket.readMaintenanceWindow({ path })), created.data!.data)

  const second = await unwrapData(picket.createMaintenanceWindow({ body: { ...sent, title: 'Another' } }))
  const listed = await unwrapAnswer(picket.listMaintenanceWindows({ query: { per_page: 1 } }))
  t.match(listed, { data: [{ id: second.id }], meta: { total: 2, total_pages: 2 } }, 'newest first')

  const body = { starts_at: inHours(-1), description: 'to the new rack' }
  const changed = await unwrapData(picket.updateMaintenanceWindow({ path, body }))
  t.match(changed, { title: 'Move', status: 'active', description: 'to the new rack', next_starts_at: null })
  t.same(await unwrapData(picket.deleteMaintenanceWindow({ path })), { id, deleted: true })
  t.equal((await picket.readMaintenanceWindow({ path })).response.status, 404)
  t.equal((await picket.deleteMaintenanceWindow({ path })).response.status, 404)
})

t.test('POST /maintenance-windows 201 for recurring periods with cron, in a time zone', async t => {
  const { call } = await api.account()
  const monitor_ids = [await addMonitor(call)]
  // half a day from now, so that no period is current, in a zone without daylight saving time
  const hour = (new Date().getUTCHours() + 17) % 24
  const timeZone = 'Asia/Kolkata'
  const nightly = {
    title: 'Backup',
    monitor_ids,
    cron: ` 30  ${hour} * * *`,
    duration_minutes: 45,
    time_zone: timeZone,
  }
  const { status, body } = await call('POST /maintenance-windows', nightly)
  t.equal(status, 201)
  t.match(body.data, {
    cron: `30 ${hour} * * *`,
    duration_minutes: 45,
    time_zone: timeZone,
    starts_at: null,
    ends_at: null,
  })
  const local = new Date(body.data.next_starts_at).toLocaleTimeString('en-GB', { timeZone })
  t.equal(local, `${String(hour).padStart(2, '0')}:30:00`)
  const [period] = await readPeriods(body.data.id)
  t.equal(period!.starts_at.toISOString(), body.data.next_starts_at, 'it is written down before it begins')
  t.equal(period!.ends_at.getTime() - period!.starts_at.getTime(), 45 * 60_000)
})

t.test('POST /maintenance-windows 400 names the invalid field', async t => {
  const { call } = await api.account()
  const monitor_ids = [await addMonitor(call)]
  const once = { title: 'Move', monitor_ids, starts_at: inHours(1), ends_at: inHours(2) }
  const cron = { title: 'Backup', monitor_ids, cron: '0 2 * * *', duration_minutes: 60, time_zone: 'UTC' }
  const rows: [object, string][] = [
    [{ ...once, title: undefined }, 'title'],
    [{ ...once, title: 'a\nb' }, 'title'],
    [{ ...once, monitor_ids: [] }, 'monitor_ids'],
    [{ ...once, monitor_ids: undefined }, 'monitor_ids'],
    [{ ...once, tags: ['shop'] }, 'tags'],
    [{ ...once, starts_at: undefined }, 'starts_at'],
    [{ ...once, ends_at: 'tomorrow' }, 'ends_at'],
    [{ ...once, starts_at: inHours(-2), ends_at: inHours(-1) }, 'ends_at'],
    [{ ...once, ends_at: inHours(200) }, 'ends_at'],
    [{ ...cron, cron: '0 2 * *' }, 'cron'],
    [{ ...cron, cron: '99 2 * * *' }, 'cron'],
    [{ ...cron, cron: '0 0 30 2 *' }, 'cron'],
    [{ ...cron, time_zone: 'Berlin' }, 'time_zone'],
    [{ ...cron, time_zone: undefined }, 'time_zone'],
    [{ ...cron, duration_minutes: 1_440 }, 'duration_minutes'],
    [{ ...cron, duration_minutes: 100_000 }, 'duration_minutes'],
  ]
  for (const [body, path] of rows) {
    const answer = await call('POST /maintenance-windows', body)
    t.match(answer, { status: 400, body: { error: { details: [{ path }] } } }, JSON.stringify(body))
  }
  const { id } = (await call('POST /maintenance-windows', once)).body.data
  const turned = await call(`PUT /maintenance-windows/${id}`, { cron: '0 2 * * *' })
  t.match(turned, { status: 400, body: { error: { details: [{ path: 'duration_minutes' }, { path: 'time_zone' }] } } })
  t.equal((await call('GET /maintenance-windows')).body.meta.total, 1)
})

t.test('POST /maintenance-windows 404 for a monitor of another project', async t => {
  const { call } = await api.account()
  const other = await api.account()
  const own = await addMonitor(call)
  const theirs = await addMonitor(other.call)
  const deleted = await addMonitor(call)
  await execute(api.db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted])
  const times = { starts_at: inHours(1), ends_at: inHours(2) }
  const mine = await call('POST /maintenance-windows', { title: 'Mine', monitor_ids: [own], ...times })
  for (const id of [theirs, deleted, UNKNOWN, 'nonsense']) {
    const body = { title: 'Theirs', monitor_ids: [own, id], ...times }
    const refusal = { status: 404, body: { error: { code: 'not_found', message: `monitor not found: "${id}"` } } }
    t.match(await call('POST /maintenance-windows', body), refusal)
    t.match(await call(`PUT /maintenance-windows/${mine.body.data.id}`, { monitor_ids: [own, id] }), refusal)
  }
  for (const route of ['GET', 'PUT', 'DELETE']) {
    const body = route === 'PUT' ? { title: 'Taken' } : undefined
    t.equal((await other.call(`${route} /maintenance-windows/${mine.body.data.id}`, body)).status, 404, route)
  }
  t.match((await call('GET /maintenance-windows')).body, { data: [{ title: 'Mine', monitor_ids: [own] }] })
})

t.test('PUT /maintenance-windows/{id} 200 keeps past maintenance and removes planned periods', async t => {
  const { call } = await api.account()
  const beganMs = Date.now()
  const [first, second] = [await addMonitor(call), await addMonitor(call)]
  const running = { title: 'Move', monitor_ids: [first], starts_at: inHours(-1), ends_at: inHours(2) }
  const { id } = (await call('POST /maintenance-windows', running)).body.data
  const [before] = await readPeriods(id)
  t.ok(before!.starts_at.getTime() >= beganMs, 'the hour before it was made is none')
  const renamed = await call(`PUT /maintenance-windows/${id}`, { title: 'Moving' })
  t.match(renamed.body.data, { title: 'Moving', status: 'active' })
  t.same(await readPeriods(id), [before])

  await call(`PUT /maintenance-windows/${id}`, { monitor_ids: [second] })
  const [ended, begun] = await readPeriods(id)
  t.match(ended, { monitor_id: first, starts_at: before!.starts_at })
  t.equal(ended!.ends_at.getTime(), begun!.starts_at.getTime())
  t.equal(begun!.monitor_id, second)

  const put = await call(`PUT /maintenance-windows/${id}`, { starts_at: inHours(1) })
  t.equal(put.body.data.status, 'scheduled')
  await call(`DELETE /maintenance-windows/${id}`)
  const kept = await readPeriods(id)
  t.equal(kept.length, 2)
  t.ok(kept.every(({ ends_at }) => ends_at.getTime() <= Date.now()))
})

t.test('PUT /maintenance-windows/{id} 200: a past window keeps its times unless they are changed', async t => {
  const { call } = await api.account()
  const sent = { title: 'Move', monitor_ids: [await addMonitor(call)], starts_at: inHours(1), ends_at: inHours(2) }
  const { id } = (await call('POST /maintenance-windows', sent)).body.data
  await execute(
    api.db,
    `UPDATE maintenance_windows SET starts_at = now() - interval '2 hours', ends_at = now() - interval '1 hour'
     WHERE id = ?`,
    [id],
  )
  t.match((await call(`PUT /maintenance-windows/${id}`, { title: 'Moved' })).body.data, {
    title: 'Moved',
    status: 'ended',
  })
  t.equal((await call(`PUT /maintenance-windows/${id}`, { ends_at: inHours(-0.5) })).status, 400)
  t.match((await call(`PUT /maintenance-windows/${id}`, { ends_at: inHours(1) })).body.data, { status: 'active' })
})
