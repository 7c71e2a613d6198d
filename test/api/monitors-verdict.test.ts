import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { incidentRoutes } from '../../control-plane/verdict/incidents/api/routes.ts'
import { openAutomaticIncidents } from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'
import { insertMonitor, readTransitions } from '../support/verdict.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  incidentRoutes(app, handles)
  monitorLifecycleRoutes(app, { ...handles, watching: NO_HISTORY })
})

/** A monitor that is down, as the verdict stores it. */
async function insertDown({ projectId }: Account): Promise<string> {
  const id = await insertMonitor(api.db, projectId)
  const startedAt = new Date()
  await execute(api.db, `UPDATE monitors SET status = 'down', status_changed_at = now() WHERE id = ?`, [id])
  await execute(
    api.db,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at)
     SELECT id, partition, '{}', now() FROM monitors WHERE id = ?`,
    [id],
  )
  await api.db.transaction(tx =>
    openAutomaticIncidents(
      tx,
      [{ projectId, monitorId: id, monitorName: 'Shop', startedAt }],
      api.publicUrl,
      startedAt,
    ),
  )
  return id
}

const readStored = async (id: string) => ({
  ...(await query<object>(api.db, 'SELECT config_version, is_paused, status FROM monitors WHERE id = ?', [id]))[0],
  states: (await query(api.db, 'SELECT 1 FROM verdict_states WHERE monitor_id = ?', [id])).length,
})

t.test(
  'POST /monitors/{id}/pause 200 resolves the automatic incident with an update, and a second pause changes nothing',
  async t => {
    const account = await api.account()
    const id = await insertDown(account)
    const { status, body } = await account.call(`POST /monitors/${id}/pause`)
    t.equal(status, 200)
    t.match(body.data, { id, is_paused: true, status: null, url: 'https://shop.example' })
    t.same(await readStored(id), { config_version: 1, is_paused: true, status: null, states: 0 })
    t.match((await account.call('GET /incidents')).body.data, [
      { status: 'resolved', message: 'Resolved because the monitor was paused.' },
    ])
    t.equal((await account.call(`POST /monitors/${id}/pause`)).body.data.updated_at, body.data.updated_at)
    t.match(await readTransitions(api.db, id), [{ from: 'down', to: null, summary: 'paused' }])
    t.same(await query(api.db, 'SELECT * FROM events WHERE subject = ?', [`monitor:${id}`]), [], 'without monitor.up')
  },
)

t.test('POST /monitors/{id}/resume 200 starts without a status and with a new configuration', async t => {
  const account = await api.account()
  const id = await insertDown(account)
  await account.call(`POST /monitors/${id}/pause`)
  const { status, body } = await account.call(`POST /monitors/${id}/resume`)
  t.equal(status, 200)
  t.match(body.data, { id, is_paused: false, status: null })
  t.same(await readStored(id), { config_version: 2, is_paused: false, status: null, states: 0 })
  await account.call(`POST /monitors/${id}/resume`)
  t.match(await readStored(id), { config_version: 2 }, 'resuming again changes nothing')
})

t.test(
  'PUT /monitors/{id} 200: a monitor that can no longer be checked has no status and no open incident',
  async t => {
    const account = await api.account()
    const id = await insertDown(account)
    t.match((await account.call(`PUT /monitors/${id}`, { name: 'Shop 2' })).body.data, { status: 'down' })
    const { status, body } = await account.call(`PUT /monitors/${id}`, { url: null })
    t.equal(status, 200)
    t.match(body.data, { id, url: null, status: null, configuration_issues: [/url is required/] })
    t.same(await readStored(id), { config_version: 2, is_paused: false, status: null, states: 0 })
    t.match((await account.call('GET /incidents')).body.data, [
      { status: 'resolved', message: 'Resolved because the monitor is no longer checked.' },
    ])
    t.match(await readTransitions(api.db, id), [{ from: 'down', to: null, summary: 'no longer checked' }])
    const { body: again } = await account.call(`PUT /monitors/${id}`, { name: 'Shop 3' })
    t.equal(again.data.status_changed_at, body.data.status_changed_at)
    t.equal((await readTransitions(api.db, id)).length, 1, 'changing it again says nothing more')
  },
)

t.test('DELETE /monitors/{id} 200, and 404 from then on', async t => {
  const account = await api.account()
  const id = await insertDown(account)
  t.same((await account.call(`DELETE /monitors/${id}`)).body, { data: { id, deleted: true } })
  t.match((await account.call('GET /incidents')).body.data, [
    { status: 'resolved', message: 'Resolved because the monitor was deleted.', monitors: [] },
  ])
  for (const route of ['DELETE /monitors/:id', 'POST /monitors/:id/pause', 'GET /monitors/:id/transitions']) {
    t.equal((await account.call(route.replace(':id', id))).status, 404, route)
  }
})

t.test(
  'GET /monitors/{id}/transitions 200 lists transitions newest first, in pages, with their explanations',
  async t => {
    const account = await api.account()
    const id = await insertMonitor(api.db, account.projectId)
    for (const [minute, status] of ['up', 'down', 'up'].entries()) {
      await execute(
        api.db,
        `INSERT INTO transitions (id, project_id, monitor_id, from_status, to_status, at, quorum, summary, explanation,
         created_at)
       VALUES (gen_random_uuid(), ?, ?, null, ?, ?, 'full', 'because', '{"rule":"none_failing"}', now())`,
        [account.projectId, id, status, `2026-08-01T12:0${minute}:00Z`],
      )
    }
    const { status, body } = await account.call(`GET /monitors/${id}/transitions?per_page=2`)
    t.equal(status, 200)
    t.same(body.meta, { page: 1, per_page: 2, total: 3, total_pages: 2 })
    t.match(body.data, [
      { to: 'up', at: '2026-08-01T12:02:00.000Z', summary: 'because', explanation: { rule: 'none_failing' } },
      { to: 'down', monitor_id: id, from: null, quorum: 'full' },
    ])
  },
)

t.test(
  'PUT, POST, GET and DELETE /monitors/{id}… 404 for ids of another tenant, unknown and malformed ids',
  async t => {
    const { call } = await api.account()
    const theirs = await insertDown(await api.account())
    const routes = ['DELETE /monitors/:id', 'POST /monitors/:id/pause', 'POST /monitors/:id/resume']
    for (const id of [theirs, '0190a0a0-0000-7000-8000-000000000000', 'nope']) {
      for (const route of [...routes, 'GET /monitors/:id/transitions']) {
        t.equal((await call(route.replace(':id', id))).status, 404, `${route} ${id}`)
      }
    }
    t.match(await readStored(theirs), { is_paused: false, status: 'down', states: 1 })
  },
)

t.test('Pausing and deleting need a key that may write', async t => {
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId)
  const read = await account.callWith('read')
  for (const route of [`DELETE /monitors/${id}`, `POST /monitors/${id}/pause`]) t.equal((await read(route)).status, 403)
  t.equal((await read(`GET /monitors/${id}/transitions`)).status, 200)
})
