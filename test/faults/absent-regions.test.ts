import { monitorEventLoopDelay } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { startNats } from '../support/nats.ts'
import { startPicket } from '../support/picket.ts'
import { startTarget } from '../support/target.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

// takes about 150 s

t.setTimeout(900_000)
const INTERVAL_MS = 12_000
/** How much longer than usual an outage may take (docs/design/guarantee.md). */
const ABSENCE_MS = 20_000

type Outage = { kind: string; down_within: number }

/** How late timers of this process were: a machine that pauses delays the others as long. */
const timers = monitorEventLoopDelay()
timers.enable()
t.teardown(() => timers.disable())

const nats = await startNats(t)
const relay = await startTcpRelay(t, nats.url)
const common = { NATS_URL: nats.url, NATS_OPERATOR_SEED: '' }
// its probes reach NATS through the relay
const picket = await startPicket(t, { regions: ['eu-west'], env: { ...common, PROBE_NATS_URL: relay.url } })
const { api, databaseUrl } = picket
const grpcPort = String(await reserveFreePort())
const other = await picket.addControlPlane({
  ...common,
  PROBE_NATS_URL: nats.url,
  ROLES: 'fleet',
  GRPC_PORT: grpcPort,
})
const [inEurope] = picket.probes
await picket.addProbe('us-east', { FLEET_URL: `127.0.0.1:${grpcPort}` })
const target = await startTarget(t)
const db = createPostgres(databaseUrl, 2)
t.teardown(() => db.destroy())

const body = { name: 'Shop', type: 'http', url: target.url, regions: ['us-east', 'eu-west'], timeout_ms: 5_000 }
const { id } = (await api.post('/monitors', { ...body, interval_seconds: 30, retry_count: 2 })).body.data
const alone = (await api.post('/monitors', { ...body, name: 'Alone', regions: ['eu-west'], interval_seconds: 30 })).body
// shorter than any plan allows
await execute(db, 'UPDATE monitors SET interval_seconds = ?, config_version = config_version + 1', [
  INTERVAL_MS / 1_000,
])
const is = (status: string | null, monitorId = id) =>
  waitFor(async () => (await api.get(`/monitors/${monitorId}`)).body.data.status === status, { label: `${status}` })
const newest = async () => (await api.get(`/monitors/${id}/transitions`)).body.data[0]
const isAbsent = (expected: boolean) =>
  waitFor(
    async () => {
      const [row] = await query<{ isAbsent: boolean }>(
        db,
        `SELECT absent_from IS NOT NULL AND absent_until IS NULL AS "isAbsent" FROM region_epochs WHERE region = 'eu-west'`,
      )
      return row?.isAbsent === expected
    },
    { label: `eu-west ${expected ? 'without' : 'with'} a probe that can publish` },
  )

async function outageIsNoticed(t: Test): Promise<void> {
  const beganMs = Date.now()
  target.behave({ kind: 'answer', status: 503 })
  await is('down')
  const down = await newest()
  const afterMs = Date.parse(down.at) - beganMs
  t.comment(`down after ${afterMs} ms: ${down.summary}`)
  t.equal(down.quorum, 'reduced')
  t.same(down.explanation.quorum.without_probe, ['eu-west'])
  const allowedMs = usualMs + ABSENCE_MS + timers.max / 1e6
  t.ok(afterMs <= allowedMs, `${afterMs} of ${allowedMs} ms`)
}

await is('up')
await is('up', alone.data.id)
/** How long the guarantee allows an answer of 503 to be unnoticed while all regions have a probe. */
const { outages } = (await api.get(`/monitors/${id}/guarantee`)).body.data as { outages: Outage[] }
const usualMs = outages.find(({ kind }) => kind === 'wrong')!.down_within * 1_000
t.equal(usualMs, INTERVAL_MS + 1_000 + 4_000 + 2_000)

t.test(
  'an outage is noticed within 20 s more than usual when the probes of one of two regions cannot publish',
  async t => {
    await relay.cut()
    await outageIsNoticed(t)
  },
)

t.test('a monitor of that region alone has no status after three intervals, with a reason', async t => {
  await is(null, alone.data.id)
  const { configuration_issues } = (await api.get(`/monitors/${alone.data.id}`)).body.data
  t.match(configuration_issues, [/^unchecked: no check has counted since /])
})

t.test('the region votes again with its next finished chain when its probe can publish', async t => {
  await relay.restore()
  await isAbsent(false)
  target.behave({ kind: 'answer', status: 200 })
  await is('up')
  const votes = async () => {
    const [row] = await query<{ state: { cells: { region: string; state: string }[] } }>(
      db,
      'SELECT state FROM verdict_states WHERE monitor_id = ?',
      [id],
    )
    return row?.state.cells.find(({ region }) => region === 'eu-west')?.state
  }
  await waitFor(async () => (await votes()) === 'ok', { label: 'a vote of eu-west' })
  t.equal((await newest()).to, 'up')
  await is('up', alone.data.id)
})

t.test(
  'an outage is noticed within 20 s more than usual when the only probe of one of two regions is killed',
  async t => {
    await inEurope!.kill9()
    await outageIsNoticed(t)
  },
)

t.test('control planes that restart do not report a region with a probe as absent', async t => {
  target.behave({ kind: 'answer', status: 200 })
  await is('up')
  inEurope!.start()
  await isAbsent(false)
  const absences = () => query(db, 'SELECT region, absent_from FROM region_epochs ORDER BY region')
  const before = await absences()
  for (const program of [picket.controlPlane, other]) await program.kill9()
  other.start()
  await picket.restartControlPlane()
  const checks = target.requests.length
  await waitFor(() => target.requests.length >= checks + 6, { label: 'three intervals' })
  t.same(await absences(), before)
})
