import t from 'tap'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { createHourly } from '../support/hourly.ts'
import { startPicket } from '../support/picket.ts'
import { startTarget } from '../support/target.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

const trace = { LOG_LEVEL: 'trace' }
const picket = await startPicket(t, { probesPerRegion: 2, env: trace, probeEnv: { ...trace, ...IDENTIFIED } })
const target = await startTargetByProbe(t)
const { api } = picket
const db = createPostgres(picket.databaseUrl, 2)
const clickhouse = createClickhouse(picket.clickhouseUrl)
t.teardown(async () => {
  await clickhouse.close()
  await db.destroy()
})

// biome-ignore lint/suspicious/noExplicitAny: results of the API
type Shown = any

async function watched(page: string) {
  // a request waits for its check for the timeout and 5 s
  const rest = { timeout_ms: 60_000, retry_count: 0 }
  const body = { name: page, type: 'http', url: target.url(page), regions: ['us-east'], ...rest }
  const id = await createHourly(api, body)
  await waitFor(async () => (await readChecks(id)).length === 1, { label: `the first check of ${page}` })
  return id
}

const readChecks = async (id: string): Promise<Shown[]> =>
  (await api.get(`/monitors/${id}/checks?per_page=100`)).body.data
const check = (id: string, key = '') =>
  api.post(`/monitors/${id}/check`, undefined, key ? { 'idempotency-key': key } : {})
const listRequests = (page: string) => target.seen.filter(({ path }) => path === `/${page}`)

const PAGES = ['history', 'many', 'idempotent', 'before', 'draining'] as const
const ids = new Map(await Promise.all(PAGES.map(async page => [page, await watched(page)] as const)))
const getId = (page: (typeof PAGES)[number]) => ids.get(page)!

t.test('A check on demand is in the history with its trigger', async t => {
  const id = getId('history')
  const { status, body } = await check(id)
  t.equal(status, 200)
  const [answered] = body.data.results
  t.match(answered, { region: 'us-east', status: 'up', trigger: 'run_now' })
  const kept = await waitFor(async () => (await readChecks(id)).find(({ trigger }) => trigger === 'run_now'))
  t.same(kept, answered, 'the same check')
})

t.test('Concurrent requests are all answered, with at most one connection to the target at a time', async t => {
  const id = getId('many')
  target.delay('many', 1_000)
  const before = listRequests('many').length
  const answers = await Promise.all(Array.from({ length: 30 }, () => check(id)))
  const answered: Shown[] = answers.map(({ body }) => body.data.results[0])
  t.same(new Set(answered.map(({ status, trigger }) => `${status} ${trigger}`)), new Set(['up run_now']))
  const ids = new Set(answered.map(({ id }) => id))
  t.equal(listRequests('many').length - before, ids.size, 'nothing else was requested')
  t.ok(ids.size < answered.length, `${ids.size} checks for ${answered.length} requests`)
  t.equal(target.countMostOpen('many'), 1)
  await waitFor(
    async () => {
      const kept = (await readChecks(id)).map(one => one.id)
      return [...ids].every(one => kept.includes(one))
    },
    { label: 'all of them in the history' },
  )
})

t.test('A repeated request with the same Idempotency-Key gets the first response and no new check', async t => {
  const id = getId('idempotent')
  const first = await check(id, 'once')
  const before = listRequests('idempotent').length
  const again = await check(id, 'once')
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.same(again.body, first.body)
  t.equal(listRequests('idempotent').length, before)
})

t.test('A changed monitor is checked with its current settings', async t => {
  const id = getId('before')
  for (let i = 0; i < 5; i++) {
    const sent = target.seen.length
    await api.put(`/monitors/${id}`, { url: target.url(`after-${i}`) })
    const { body } = await check(id)
    t.equal(body.data.results[0].status, 'up')
    t.ok(target.seen.slice(sent).some(({ path }) => path === `/after-${i}`))
    t.notOk(target.seen.slice(sent).some(({ path }) => path === `/after-${i - 1}`))
  }
})

t.test('POST /monitors/test 200 runs a check and stores nothing', async t => {
  const shop = await startTarget(t)
  shop.behave({ kind: 'answer', status: 503, body: 'closed' })
  const before = (await query<{ count: number }>(db, 'SELECT count(*)::int AS count FROM monitors'))[0]
  const { status, body } = await api.post('/monitors/test', {
    ...{ name: 'Shop', type: 'http', url: shop.url, regions: ['us-east', 'eu-west'], retry_count: 5 },
    ...{
      auth_type: 'bearer',
      auth_config: { token: 'bearer-of-the-shop' },
      headers: { 'X-Api-Key': 'key-of-the-shop' },
    },
    assertions: [{ type: 'status_code', operator: 'equals', value: '200' }],
  })
  t.equal(status, 200)
  t.match(body.data.results, [
    {
      monitor_id: null,
      region: 'us-east',
      status: 'down',
      status_code: 503,
      trigger: 'run_now',
      error: { source: 'target', code: 'assertion_failed', message: /status_code equals 200/ },
    },
    { monitor_id: null, region: 'eu-west', status: 'unknown', error: { code: 'no_probe' } },
  ])
  t.equal(shop.requests.length, 1, 'one attempt, no re-checks')
  t.match(shop.requests[0]?.headers, { authorization: 'Bearer bearer-of-the-shop', 'x-api-key': 'key-of-the-shop' })
  t.same((await query(db, 'SELECT count(*)::int AS count FROM monitors'))[0], before)

  const id = await watched('after-the-test')
  t.equal((await readChecks(id)).length, 1, 'later results are recorded')
  const known = (await query<{ id: string }>(db, 'SELECT id FROM monitors')).map(row => row.id)
  const recorded = await select<{ id: string }>(
    clickhouse,
    'SELECT DISTINCT toString(monitor_id) AS id FROM results',
    {},
  )
  t.same(
    recorded.filter(row => !known.includes(row.id)),
    [],
    'no result of the test',
  )
  const states = await query<{ id: string }>(db, 'SELECT monitor_id AS id FROM verdict_states')
  t.ok(states.every(row => known.includes(row.id)))
  const logs = JSON.stringify([picket.controlPlane.lines, ...picket.probes.map(({ lines }) => lines)])
  t.notMatch(logs, /of-the-shop/, 'no log contains the credentials')
})

t.test('While a probe drains, the other one checks its monitors', async t => {
  const id = getId('draining')
  const owner = picket.probes.find(({ pid }) => pid === listRequests('draining')[0]?.pid)!
  target.delay('draining', 3_000)
  const running = check(id)
  await waitFor(() => listRequests('draining').length === 2, { label: 'a running check' })
  const stopped = owner.stop()
  await owner.untilEvent('draining')
  const { body } = await check(id)
  t.match(body.data.results, [{ status: 'up' }])
  t.not(body.data.results[0].probe_id, (await running).body.data.results[0].probe_id)
  t.match((await running).body.data.results, [{ status: 'up' }], 'a running check is answered')
  t.equal(await stopped, 0)
})
