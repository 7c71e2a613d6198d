import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabaseClock, type DatabaseClock } from '../support/database-clock.ts'
import { startNats } from '../support/nats.ts'
import { startNatsTimeProxy } from '../support/nats-time-proxy.ts'
import { startPicket } from '../support/picket.ts'
import { readReadiness } from '../support/readiness.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'
import { createWrongClock } from '../support/wrong-clock.ts'

t.setTimeout(900_000)

const REGIONS = ['us-east', 'eu-west']
const MONITORS = 6
const INTERVAL_S = 5
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LONG_WAIT = { timeoutMs: 120_000 }

const nats = await startNats(t)
const proxy = await startNatsTimeProxy(t, nats.url)
const [ofFleet, ofProbe] = [createWrongClock(t), createWrongClock(t)]
const picket = await startPicket(t, {
  regions: REGIONS,
  env: { ...ofFleet.env, NATS_URL: proxy.url, PROBE_NATS_URL: nats.url, NATS_OPERATOR_SEED: '' },
  probeEnv: ofProbe.env,
})
const { api, controlPlane } = picket
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())
const target = await startTarget(t)

const ids = await Promise.all(
  Array.from({ length: MONITORS }, async (_, i) => {
    const body = { name: `${i}`, type: 'http', url: `${target.url}/${i}`, regions: REGIONS, timeout_ms: 2_000 }
    return (await api.post('/monitors', { ...body, interval_seconds: 30, retry_count: 0 })).body.data.id as string
  }),
)
// shorter than any plan allows, so that there is time for many clocks
await execute(db, 'UPDATE monitors SET interval_seconds = ?, config_version = config_version + 1', [INTERVAL_S])

const allAre = (status: string) =>
  waitFor(
    async () => {
      const sql = 'SELECT count(*) AS count FROM monitors WHERE status = ?'
      return (await query<{ count: number }>(db, sql, [status]))[0]!.count === MONITORS
    },
    { ...LONG_WAIT, label: `all are ${status}` },
  )

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${picket.operator}/metrics`)).text()
  const lines = text.split('\n').filter(line => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
const refused = async () =>
  (await metric('picket_verdict_results_total{kind="refused_future"}')) +
  (await metric('picket_verdict_results_total{kind="history"}'))

let outages = 0
const reported = (event: string) => receiver.waitFor(MONITORS * outages, { match: ({ json }) => json.event === event })

/** An outage of all targets is seen and reported, and so is its end. */
async function expectReportedOutage(meanwhile = async () => {}) {
  outages++
  target.behave({ kind: 'answer', status: 500 })
  await allAre('down')
  await reported('monitor.down')
  await meanwhile()
  target.behave({ kind: 'answer' })
  await allAre('up')
  await reported('monitor.up')
  // a process that is killed before it records a delivery would send it again
  const pending = `SELECT count(*) AS count FROM deliveries WHERE status = 'pending'`
  await waitFor(async () => (await query<{ count: number }>(db, pending))[0]!.count === 0, LONG_WAIT)
}

const receiver = await startReceiver(t)
const channel = { name: 'Ops', type: 'webhook', config: { url: receiver.url } }
const { id: alert_channel_id } = (await api.post('/alerts/channels', channel)).body.data
for (const monitor_id of ids) await api.post('/alerts/rules', { monitor_id, alert_channel_id })
let postgres: DatabaseClock | null = null
await allAre('up')
await expectReportedOutage()

type Case = { title: string; set: () => void }
const setProbes = (ms: number) => ofProbe.setAhead(ms, ...picket.probes)
const cases: Case[] = [
  { title: 'a control plane’s clock jumps ahead by an hour', set: () => ofFleet.setAhead(HOUR_MS, controlPlane) },
  { title: 'it is set right again', set: () => ofFleet.setAhead(0, controlPlane) },
  { title: 'it is ten minutes behind', set: () => ofFleet.setAhead(-10 * MINUTE_MS, controlPlane) },
  { title: 'a probe’s clock is an hour behind as well', set: () => setProbes(-HOUR_MS) },
  { title: 'NATS’ clock jumps ahead by an hour', set: () => proxy.setAhead(HOUR_MS) },
  { title: 'it is set back to a minute behind', set: () => proxy.setAhead(-MINUTE_MS) },
  { title: 'it is set ahead to ten minutes ahead', set: () => proxy.setAhead(10 * MINUTE_MS) },
  { title: 'it is set right again', set: () => proxy.setAhead(0) },
]

for (const { title, set } of cases) {
  t.test(`${title}: results count, and the next outage is reported as usual`, async t => {
    const before = await refused()
    set()
    await expectReportedOutage()
    t.equal((await refused()) - before, 0, 'no result was refused or came too late for the verdict')
  })
}

t.test('an outage lasts until the target is back when NATS’ clock is set during it', async t => {
  await expectReportedOutage(async () => {
    proxy.setAhead(HOUR_MS)
    const requests = target.requests.length
    await waitFor(() => target.requests.length >= requests + 4 * MONITORS, { ...LONG_WAIT, label: 'checks' })
  })
  t.ok((await metric('picket_clock_steps_total{of="nats"}')) >= 5, 'the operator sees each step')
})

t.test('a control plane that is started after NATS’ clock was set back continues from its position', async t => {
  await controlPlane.kill9()
  proxy.setAhead(-10 * MINUTE_MS)
  postgres = await createDatabaseClock(db)
  await picket.restartControlPlane()
  await expectReportedOutage()
  const { body: ready } = await readReadiness(picket.operator)
  t.equal(ready.status, 'ready')
  const { nats, postgres: ahead } = ready.clock_disagreement_seconds
  t.equal(nats, undefined, 'both are ten minutes behind')
  t.ok(Math.abs(ahead - 600) < 5, 'PostgreSQL is ten minutes ahead of the machine')
})

for (const minutes of [60, 0, -10]) {
  t.test(`PostgreSQL’s clock is set to ${minutes} minutes ahead: the next outage is reported as usual`, async () => {
    await postgres!.setAhead(minutes * MINUTE_MS)
    await expectReportedOutage()
  })
}

t.test('each outage was reported once with all these clocks, and nothing else', async t => {
  const others = `SELECT at, created_at, summary, explanation FROM transitions WHERE to_status NOT IN ('up', 'down')`
  t.same(await query(db, others), [], 'no other status')
  for (const id of ids) {
    const sql = `SELECT to_status AS "to", count(*) AS count FROM transitions WHERE monitor_id = ? GROUP BY 1 ORDER BY 1`
    t.same(await query(db, sql, [id]), [
      { to: 'down', count: outages },
      { to: 'up', count: outages + 1 },
    ])
  }
  // a delivery may arrive again, under the same id, when a slow machine answered it too late
  const deliveries = new Set(receiver.received.map(({ headers }) => headers['x-service-delivery']))
  t.equal(deliveries.size, MONITORS * outages * 2)
})
