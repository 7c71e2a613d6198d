import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabaseClock } from '../support/database-clock.ts'
import { send } from '../support/delivery-queue.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'
import { createWrongClock } from '../support/wrong-clock.ts'

t.setTimeout(900_000)

const AHEAD_MS = 40_000
const HOUR_MS = 3_600_000
const MONITORS = 24
/** The number of concurrent requests to one receiver. */
const DELIVERIES = 8
const LONG_WAIT = { timeoutMs: 300_000 }

t.test('an alert is sent once even if the clock of one of two sending processes is 40 s ahead', async t => {
  const clock = createWrongClock(t, AHEAD_MS)
  const picket = await startPicket(t, { regions: [] })
  const db = createPostgres(picket.databaseUrl, 2)
  t.teardown(() => db.destroy())
  const other = await picket.addControlPlane({ ...clock.env, ROLES: 'deliver' })
  const receiver = await startReceiver(t)
  // an attempt takes at most 10 s, also on a busy machine
  receiver.always({ status: 200, delayMs: 4_000 })
  const channel = { name: 'Ops', type: 'webhook', config: { url: receiver.url } }
  const { id } = (await picket.api.post('/alerts/channels', channel)).body.data
  const [project] = await query<{ id: string }>(db, 'SELECT project_id AS id FROM alert_channels WHERE id = ?', [id])
  const subjects = Array.from({ length: DELIVERIES }, (_, i) => `monitor:${i}`)
  other.freeze()
  await send(db, project!.id, [id], subjects, new Date())
  await waitFor(() => receiver.received.length === DELIVERIES, { ...LONG_WAIT, label: 'all of them on their way' })
  // it finds lanes whose lease has 30 s left, and by its own clock ended 10 s ago
  other.thaw()

  const countDeliveries = async (status: string) => {
    const sql = 'SELECT count(*) AS count FROM deliveries WHERE status = ?'
    return (await query<{ count: number }>(db, sql, [status]))[0]!.count
  }
  await waitFor(async () => (await countDeliveries('delivered')) === DELIVERIES, {
    ...LONG_WAIT,
    label: 'all deliveries',
  })
  t.equal(await countDeliveries('pending'), 0)
  t.equal(receiver.received.length, DELIVERIES, 'each was sent once')
  t.match(
    other.lines
      .filter(({ event }) => event === 'clock_disagreement')
      .map(({ engine }) => engine)
      .sort(),
    ['nats', 'postgres'],
    'the disagreement of the clocks is logged once',
  )
})

t.test(
  'the next control plane decides, and NATS accepts probes, after a kill and a step of PostgreSQL’s clock by an hour',
  async t => {
    const picket = await startPicket(t, { regions: [] })
    const db = createPostgres(picket.databaseUrl, 2)
    t.teardown(() => db.destroy())
    const target = await startTarget(t)
    const body = { name: 'Shop', type: 'http', url: target.url, regions: ['us-east'], interval_seconds: 30 }
    // its leases are from the clock before
    await picket.controlPlane.kill9()
    const clock = await createDatabaseClock(db)
    for (const hours of [-1, 1, 0]) {
      await clock.setAhead(hours * HOUR_MS)
      await picket.restartControlPlane()
      // of many partitions
      const made = await picket.api.post('/monitors/bulk', { monitors: Array.from({ length: MONITORS }, () => body) })
      const ids: string[] = made.body.monitors.map(({ id }: { id: string }) => id)
      const probe = await picket.addProbe('us-east')
      const areUp = async () => {
        const sql = `SELECT count(*) AS count FROM monitors WHERE id = ANY (CAST(? AS uuid[])) AND status = 'up'`
        return (await query<{ count: number }>(db, sql, [ids]))[0]!.count === MONITORS
      }
      await waitFor(areUp, { ...LONG_WAIT, label: `all up, ${hours} h` })
      t.same(
        probe.lines.filter(({ event }) => event === 'nats_away'),
        [],
        `${hours} h: NATS never refused the probe`,
      )
      await probe.stop()
      await picket.controlPlane.kill9()
    }
  },
)
