import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { silenceRoutes } from '../../control-plane/verdict/silences/routes.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { unwrapAnswer, unwrapData } from '../support/client.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  silenceRoutes(app, { ...handles, review: scheduleReview })
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  monitorLifecycleRoutes(app, { ...handles, watching: NO_HISTORY })
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()

const addMonitor = async (call: Call, name = 'Shop'): Promise<string> =>
  (await call('POST /monitors', { name, type: 'http' })).body.data.id

t.test('POST /silences 201, which is read, listed and ended', async t => {
  const { call, picket } = await api.account()
  const monitor_ids = [await addMonitor(call), await addMonitor(call, 'Store')]
  const sent = { monitor_ids, until: inHours(1), reason: 'Move to the new rack' }
  const created = await picket.createSilence({ body: sent })
  t.equal(created.response.status, 201)
  const { id, created_at, ...rest } = created.data!.data
  t.same(rest, { ...sent, monitor_names: ['Shop', 'Store'], status: 'active' })
  t.ok(Date.parse(created_at) <= Date.now())
  const path = { id }
  t.same(await unwrapData(picket.readSilence({ path })), created.data!.data)

  const second = await unwrapData(picket.createSilence({ body: { monitor_ids, until: inHours(2) } }))
  t.equal(second.reason, null)
  const listed = await unwrapAnswer(picket.listSilences({ query: { per_page: 1 } }))
  t.match(listed, { data: [{ id: second.id }], meta: { total: 2, total_pages: 2 } }, 'newest first')

  t.same(await unwrapData(picket.deleteSilence({ path })), { id, deleted: true })
  t.equal((await picket.readSilence({ path })).response.status, 404)
  t.equal((await picket.deleteSilence({ path })).response.status, 404)
  t.match(await unwrapAnswer(picket.listSilences()), { data: [{ id: second.id }], meta: { total: 1 } })
})

t.test('GET /silences 200 of one monitor, and of those in force', async t => {
  const { call, picket } = await api.account()
  const [first, second] = [await addMonitor(call), await addMonitor(call)]
  const create = async (monitor_ids: string[]) =>
    (await unwrapData(picket.createSilence({ body: { monitor_ids, until: inHours(1) } }))).id
  const [both, ended, single] = [await create([first, second]), await create([first]), await create([second])]
  await execute(api.db, `UPDATE alert_silences SET ends_at = now() - interval '1 minute' WHERE id = ?`, [ended])
  const list = async (query: { monitor_id?: string; active?: boolean }) =>
    (await unwrapAnswer(picket.listSilences({ query }))).data.map(({ id }) => id)
  t.same(await list({}), [single, ended, both])
  t.same(await list({ active: true }), [single, both])
  t.same(await list({ active: false }), [ended])
  t.same(await list({ monitor_id: first }), [ended, both])
  t.same(await list({ monitor_id: first, active: true }), [both])
  t.equal((await unwrapData(picket.readSilence({ path: { id: ended } }))).status, 'ended')
  t.equal((await call('GET /silences?active=perhaps')).status, 400)
  t.equal((await call(`GET /silences?monitor_id=${UNKNOWN}`)).status, 404)
})

t.test('POST /silences 400 names the invalid field', async t => {
  const { call } = await api.account()
  const valid = { monitor_ids: [await addMonitor(call)], until: inHours(1) }
  const rows: [object, string, RegExp?][] = [
    [{ ...valid, monitor_ids: [] }, 'monitor_ids'],
    [{ ...valid, monitor_ids: undefined }, 'monitor_ids'],
    [{ ...valid, monitor_ids: Array.from({ length: 1_001 }, (_, i) => String(i)) }, 'monitor_ids'],
    [{ ...valid, until: undefined }, 'until'],
    [{ ...valid, until: 'tomorrow' }, 'until'],
    [{ ...valid, until: inHours(-1) }, 'until', /in the future/],
    [{ ...valid, until: inHours(24 * 91) }, 'until', /at most 90 days ahead/],
    [{ ...valid, reason: '' }, 'reason'],
    [{ ...valid, reason: 'a\nb' }, 'reason'],
    [{ ...valid, reason: 'a'.repeat(201) }, 'reason'],
    [{ ...valid, title: 'Move' }, 'title'],
  ]
  for (const [body, path, message = /./] of rows) {
    const answer = await call('POST /silences', body)
    t.match(answer, { status: 400, body: { error: { details: [{ path, message }] } } }, JSON.stringify(body))
  }
  t.equal((await call('GET /silences')).body.meta.total, 0)
})

t.test('Silences and monitors of another project are not found', async t => {
  const { call } = await api.account()
  const other = await api.account()
  const [own, theirs] = [await addMonitor(call), await addMonitor(other.call)]
  const deleted = await addMonitor(call)
  t.equal((await call(`DELETE /monitors/${deleted}`)).status, 200)
  for (const id of [theirs, deleted, UNKNOWN, 'x']) {
    const answer = await call('POST /silences', { monitor_ids: [own, id], until: inHours(1) })
    t.match(answer, { status: 404, body: { error: { message: `monitor not found: "${id}"` } } }, id)
  }
  const long = await call('POST /silences', { monitor_ids: ['x'.repeat(1_000)], until: inHours(1) })
  t.equal(long.body.error.message, `monitor not found: "${'x'.repeat(64)}…"`)
  const { id } = (await other.call('POST /silences', { monitor_ids: [theirs], until: inHours(1) })).body.data
  for (const method of ['GET', 'DELETE']) {
    const answer = await call(`${method} /silences/${id}`)
    t.match(answer, { status: 404, body: { error: { message: 'silence not found' } } }, method)
  }
  t.equal((await call(`GET /silences?monitor_id=${theirs}`)).status, 404)
  t.equal((await call('GET /silences')).body.meta.total, 0)
  t.equal((await other.call(`GET /silences/${id}`)).body.data.status, 'active')
})

t.test('POST and DELETE /silences 403 with a key that may only read', async t => {
  const { call, callWith } = await api.account()
  const monitor_ids = [await addMonitor(call)]
  const { id } = (await call('POST /silences', { monitor_ids, until: inHours(1) })).body.data
  const reading = await callWith('read')
  t.equal((await reading('POST /silences', { monitor_ids, until: inHours(1) })).status, 403)
  t.equal((await reading(`DELETE /silences/${id}`)).status, 403)
  t.equal((await reading(`GET /silences/${id}`)).status, 200)
  t.equal((await (await callWith('write'))(`DELETE /silences/${id}`)).status, 200)
})

t.test('A deleted monitor leaves its silences, and a silence without monitors disappears', async t => {
  const { call } = await api.account()
  const [kept, deleted] = [await addMonitor(call), await addMonitor(call)]
  const until = inHours(1)
  const both = (await call('POST /silences', { monitor_ids: [kept, deleted], until })).body.data.id
  const single = (await call('POST /silences', { monitor_ids: [deleted], until })).body.data.id
  t.equal((await call(`DELETE /monitors/${deleted}`)).status, 200)
  t.same((await call(`GET /silences/${both}`)).body.data.monitor_ids, [kept])
  t.equal((await call(`GET /silences/${single}`)).status, 404)
  t.match(await call('GET /silences'), { body: { data: [{ id: both }], meta: { total: 1 } } })
})

t.test('POST /silences 409 beyond 100 silences in force, also for concurrent requests', async t => {
  const { call, projectId } = await api.account()
  const monitor_ids = [await addMonitor(call)]
  const add = () => call('POST /silences', { monitor_ids, until: inHours(1) })
  const { id } = (await add()).body.data
  await execute(
    api.db,
    `INSERT INTO alert_silences (id, project_id, ends_at, created_at)
     SELECT uuidv7(), :projectId, now() + interval '1 hour', now() FROM generate_series(1, 97)`,
    { projectId },
  )
  await execute(
    api.db,
    `INSERT INTO alert_silence_monitors (silence_id, monitor_id)
     SELECT id, :monitorId FROM alert_silences WHERE project_id = :projectId ON CONFLICT DO NOTHING`,
    { projectId, monitorId: monitor_ids[0]! },
  )
  const answers = await Promise.all(Array.from({ length: 5 }, add))
  t.same(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409])
  const refused = answers.find(({ status }) => status === 409)
  t.match(refused!.body.error, { code: 'conflict', message: /at most 100 silences in force/ })
  t.equal((await call(`DELETE /silences/${id}`)).status, 200)
  t.equal((await add()).status, 201, 'one has ended')
  await execute(api.db, `UPDATE alert_silences SET ends_at = now() - interval '1 minute' WHERE project_id = ?`, [
    projectId,
  ])
  t.equal((await add()).status, 201, 'all others have ended')
})

t.test('The audit log names who created and ended a silence', async t => {
  const { call, projectId } = await api.account()
  const monitor_ids = [await addMonitor(call)]
  const { id } = (await call('POST /silences', { monitor_ids, until: inHours(1), reason: 'Move' })).body.data
  await call(`DELETE /silences/${id}`)
  const entries = await query<{ action: string; name: string; kind: string; changes: object }>(
    api.db,
    `SELECT action, resource_name AS name, actor_kind AS kind, changes FROM audit_log
     WHERE project_id = ? AND resource = 'silence' AND resource_id = ? ORDER BY seq`,
    [projectId, id],
  )
  t.match(entries, [
    { action: 'created', name: 'Move', kind: 'api_key', changes: { reason: { from: null, to: 'Move' } } },
    { action: 'updated', name: 'Move', changes: { monitor_id: { from: null, to: monitor_ids[0] } } },
    { action: 'deleted', name: 'Move', kind: 'api_key' },
  ])
  t.equal(entries.length, 3)
})
