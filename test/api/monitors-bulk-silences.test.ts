import t from 'tap'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { bulkChangeRoutes } from '../../control-plane/verdict/bulk-changes/routes.ts'
import { silenceRoutes } from '../../control-plane/verdict/silences/routes.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'
import { insertMonitors } from '../support/verdict.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  bulkChangeRoutes(app, handles)
  silenceRoutes(app, { ...handles, review: scheduleReview })
})
const PATH = 'POST /monitors/bulk-changes'
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

type Silenced = { id: string; monitor_ids: string[]; until: string; reason: string | null }
const listActive = async (call: Call): Promise<Silenced[]> =>
  (await call('GET /silences?active=true&per_page=100')).body.data

async function addMonitors(count: number) {
  const account = await api.account('business')
  return { ...account, ids: (await insertMonitors(api.db, account.projectId, count)).sort() }
}

t.test('A silence is shown by a dry run, applied as shown, and ended by its undo', async t => {
  const { call, ids } = await addMonitors(3)
  const terms = { until: inHours(2), reason: 'Move' }
  const body = { monitor_ids: ids, change: { silence: terms } }
  const dry = (await call(PATH, body)).body.data
  t.same(dry.items[0].changes, [{ field: 'silence', from: null, to: terms }])
  t.same([dry.changed, dry.undo], [3, null])
  t.same(await listActive(call), [], 'a dry run changes nothing')
  const real = (await call(PATH, { ...body, dry_run: false })).body.data
  t.same(real.items, dry.items)
  const silences = await listActive(call)
  t.match(silences, [{ ...terms, monitor_ids: ids }])
  t.equal(silences.length, 1, 'one silence for all')
  t.equal((await call(PATH, { ...body, dry_run: false })).body.data.unchanged, 3, 'a second time')
  t.same(real.undo.changes, [{ monitor_ids: ids, change: { silence: null } }])
  t.equal((await call(PATH, real.undo)).body.data.changed, 3)
  t.same(await listActive(call), [])
})

t.test('A silence replaces those that a monitor is in, and its undo restores the last of them', async t => {
  const { call, ids } = await addMonitors(2)
  const [first, second] = ids as [string, string]
  const earlier = { until: inHours(5), reason: 'Backup' }
  await call('POST /silences', { monitor_ids: ids, ...earlier })
  await call('POST /silences', { monitor_ids: [first], until: inHours(1) })
  const silence = { until: inHours(2), reason: null }
  const real = (await call(PATH, { monitor_ids: [first], change: { silence }, dry_run: false })).body.data
  t.same(real.items[0].changes, [{ field: 'silence', from: earlier, to: silence }])
  t.match(await listActive(call), [
    { monitor_ids: [first], ...silence },
    { monitor_ids: [second], ...earlier },
  ])
  t.equal((await call(PATH, real.undo)).body.data.changed, 1)
  t.match(await listActive(call), [
    { monitor_ids: [first], ...earlier },
    { monitor_ids: [second], ...earlier },
  ])
  const ended = await call(PATH, { monitor_ids: ids, change: { silence: null }, dry_run: false })
  t.equal(ended.body.data.changed, 2)
  t.same(await listActive(call), [])
})

t.test('An end in the past or too far ahead is refused for each monitor; a malformed one is a 400', async t => {
  const { call, ids } = await addMonitors(1)
  const change = (silence: unknown) => call(PATH, { monitor_ids: ids, change: { silence }, dry_run: false })
  for (const [hours, message] of [
    [-1, /must be in the future/],
    [91 * 24, /at most 90 days ahead/],
  ] as const) {
    const { items } = (await change({ until: inHours(hours) })).body.data
    t.match(items, [{ result: 'refused', error: { code: 'validation_error', message } }])
  }
  const refused = await change({ until: 'tomorrow' })
  t.match(refused, { status: 400, body: { error: { details: [{ path: 'change.silence.until' }] } } })
  t.equal((await change({ reason: 'Move' })).status, 400)
  t.same(await listActive(call), [])
})

t.test('Monitors of another project are not silenced', async t => {
  const { call, ids } = await addMonitors(1)
  const other = await addMonitors(1)
  const monitor_ids = [...ids, ...other.ids]
  const change = { silence: { until: inHours(1) } }
  const { items } = (await call(PATH, { monitor_ids, change, dry_run: false })).body.data
  t.match(items, [{ result: 'changed' }, { result: 'refused', error: { code: 'not_found' } }])
  t.same(await listActive(other.call), [])
})

t.test('A silence has at most 1,000 monitors: more get further silences', async t => {
  const { call, ids } = await addMonitors(1_050)
  const change = { silence: { until: inHours(1) } }
  const { changed, undo } = (await call(PATH, { monitor_ids: ids, change, dry_run: false })).body.data
  t.equal(changed, 1_050)
  const silences = await listActive(call)
  t.same(silences.map(({ monitor_ids }) => monitor_ids.length).sort(), [1_000, 50])
  t.same(silences.flatMap(({ monitor_ids }) => monitor_ids).sort(), ids)
  t.equal((await call(PATH, undo)).body.data.changed, 1_050)
  t.same(await listActive(call), [])
})

t.test('Bulk changes 409 beyond 100 silences in force', async t => {
  const { call, ids } = await addMonitors(2)
  const [first, second] = ids as [string, string]
  for (let n = 0; n < 100; n++) await call('POST /silences', { monitor_ids: [first], until: inHours(1) })
  const add = (id: string) =>
    call(PATH, { monitor_ids: [id], change: { silence: { until: inHours(2) } }, dry_run: false })
  t.match(await add(second), { status: 409, body: { error: { message: /at most 100 silences in force/ } } })
  t.equal((await add(first)).status, 200, 'it replaces a hundred')
  t.equal((await listActive(call)).length, 1)
})
