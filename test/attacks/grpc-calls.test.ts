import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startCallFlood } from '../support/call-flood.ts'
import { createDatabase } from '../support/database.ts'
import { startPicket } from '../support/picket.ts'
import { startSlowRelay } from '../support/slow-relay.ts'
import { waitFor } from '../support/wait.ts'

// takes about 50 s

/** How much later PostgreSQL answers, as one in another data center: so look-ups take connections for long on any machine. */
const DELAY_MS = 40
const CALLS = 15_000

const database = await createDatabase(t)
const db = createPostgres(database.url, 2)
t.teardown(() => db.destroy())
const picket = await startPicket(t, { regions: ['eu-west'], env: { DATABASE_URL: database.url } })
const slowUrl = await startSlowRelay(t, database.url, DELAY_MS)
const fleet = await picket.addControlPlane({ DATABASE_URL: slowUrl, ROLES: 'fleet' })
const ready = await fleet.untilEvent('ready')

const readLiveSet = async () =>
  (
    await query<{ epoch: number; probes: number }>(
      db,
      `SELECT epoch, cardinality(probe_ids) AS probes FROM region_epochs WHERE region = 'us-east'`,
    )
  )[0]
const countFailedRounds = async () => {
  const text = await (await fetch(`http://127.0.0.1:${ready.operator_port}/metrics`)).text()
  return /picket_loop_rounds_total\{loop="fleet_links",outcome="failed"\} (\d+)/.exec(text)?.[1] ?? '0'
}

t.test('Calls with unknown secrets delay no round of the fleet and no probe', async t => {
  const address = { FLEET_URL: `127.0.0.1:${ready.grpc_port}` }
  const probe = await picket.addProbe('us-east', address)
  await waitFor(async () => (await readLiveSet())?.probes === 1, { label: 'the probe is live' })
  const before = await readLiveSet()

  const flood = startCallFlood(t, ready.grpc_port, {
    addresses: 20,
    connectionsPerAddress: 10,
    callsPerConnection: 16,
    pauseMs: 3_000,
  })
  await waitFor(() => flood.answered() > 1_000, { label: 'the flood' })
  await waitFor(() => flood.answered() > CALLS, { label: 'its end' })
  t.equal(await countFailedRounds(), '0', 'no round waited too long for a connection to PostgreSQL')
  t.same(await readLiveSet(), before, 'the probe stayed in the live set')
  t.same(
    probe.lines.filter(({ event }) => event === 'disconnected'),
    [],
  )

  await picket.addProbe('us-east', address)
  await waitFor(async () => (await readLiveSet())?.probes === 2, { label: 'a new probe is live' })
  await probe.stop()
  probe.start()
  await probe.untilEvent('connected')
  const lookUps = [...flood.messages()].reduce((sum, [text, n]) => (text.includes('is%20unknown') ? sum + n : sum), 0)
  t.ok(lookUps < flood.answered() / 2, `${lookUps} of ${flood.answered()} secrets were looked up`)
})
