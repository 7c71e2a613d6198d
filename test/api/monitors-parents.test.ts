import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { parentRoutes } from '../../control-plane/monitoring/monitors/parents/routes.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  parentRoutes(app, { ...handles, review: scheduleReview })
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'

const addMonitor = async (call: Call, name = 'Shop'): Promise<string> =>
  (await call('POST /monitors', { name, type: 'http' })).body.data.id
const addMonitors = (call: Call, count: number) => Promise.all(Array.from({ length: count }, () => addMonitor(call)))

t.test('PUT /monitors/{id}/parents 200 replaces the parents; GET returns them', async t => {
  const { call } = await api.account()
  const child = await addMonitor(call)
  const parent = await addMonitor(call, 'Router')
  const NONE = { monitor_id: child, parent_ids: [], parents: [] }
  t.same((await call(`GET /monitors/${child}/parents`)).body, { data: NONE })
  const answer = await call(`PUT /monitors/${child}/parents`, { parent_ids: [parent.toUpperCase()] })
  const expected = { monitor_id: child, parent_ids: [parent], parents: [{ id: parent, name: 'Router', status: null }] }
  t.match(answer, { status: 200, body: { data: expected } })
  t.same((await call(`GET /monitors/${child}/parents`)).body, answer.body)
  await execute(api.db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [parent])
  t.same((await call(`GET /monitors/${child}/parents`)).body, { data: NONE }, 'a deleted parent is left out')
  t.same((await call(`PUT /monitors/${child}/parents`, { parent_ids: [] })).body, { data: NONE })
})

t.test('PUT /monitors/{id}/parents 409 for a cycle, also by concurrent requests', async t => {
  const { call } = await api.account()
  const [a, b, c] = (await addMonitors(call, 3)) as [string, string, string]
  const put = (child: string, parents: string[]) => call(`PUT /monitors/${child}/parents`, { parent_ids: parents })
  t.equal((await put(b, [a])).status, 200)
  t.equal((await put(c, [b])).status, 200)
  t.match(await put(a, [c]), { status: 409, body: { error: { code: 'conflict' } } })
  t.match(await put(a, [b]), { status: 409 })
  t.equal((await put(c, [b, a])).status, 200, 'two paths to one parent are not a cycle')
  const pairs = await Promise.all(Array.from({ length: 5 }, () => addMonitors(call, 2)))
  for (const [one, other] of pairs as [string, string][]) {
    const together = await Promise.all([put(one, [other]), put(other, [one])])
    t.same(together.map(({ status }) => status).sort(), [200, 409])
  }
})

t.test(
  'PUT /monitors/{id}/parents 400 for the monitor itself, duplicates, more than ten and invalid lists',
  async t => {
    const { call } = await api.account()
    const child = await addMonitor(call)
    const others = await addMonitors(call, 11)
    const rows: [object, string][] = [
      [{ parent_ids: [others[0], child] }, 'parent_ids[1]'],
      [{ parent_ids: [others[0], others[0]] }, 'parent_ids'],
      [{ parent_ids: others }, 'parent_ids'],
      [{ parent_ids: 'x' }, 'parent_ids'],
      [{ parent_ids: [7] }, 'parent_ids[0]'],
      [{}, 'parent_ids'],
      [{ parent_ids: [], depends_on: [] }, 'depends_on'],
    ]
    for (const [body, path] of rows) {
      const answer = await call(`PUT /monitors/${child}/parents`, body)
      t.match(answer, { status: 400, body: { error: { details: [{ path }] } } }, JSON.stringify(body))
    }
    t.equal((await call(`PUT /monitors/${child}/parents`, { parent_ids: others.slice(0, 10) })).status, 200)
  },
)

t.test('PUT /monitors/{id}/parents 404 for monitors of other projects', async t => {
  const { call } = await api.account()
  const other = await api.account()
  const [child, parent] = (await addMonitors(call, 2)) as [string, string]
  const theirs = await addMonitor(other.call)
  for (const id of [theirs, UNKNOWN, 'nonsense']) {
    t.match(await call(`PUT /monitors/${child}/parents`, { parent_ids: [parent, id] }), {
      status: 404,
      body: { error: { message: `monitor not found: "${id}"` } },
    })
    t.match(await call(`PUT /monitors/${id}/parents`, { parent_ids: [parent] }), { status: 404 })
    t.match(await call(`GET /monitors/${id}/parents`), { status: 404 })
  }
  const read = await other.callWith('read')
  t.match(await read(`PUT /monitors/${theirs}/parents`, { parent_ids: [] }), { status: 403 })
})
