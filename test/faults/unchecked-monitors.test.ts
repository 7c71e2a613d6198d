import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { stateHintSubject } from '../../shared/nats/subjects.ts'
import {
  createNextResult,
  insertChannel,
  insertMonitor,
  publish,
  readTransitions,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

t.setTimeout(900_000)
const { url, server, db, nats, projectId } = await startVerdictEngines(t)
await startVerdictProcess(t, url, server.url)
const INTERVAL_S = 2
/** Three intervals and the timeout. */
const LIFETIME_MS = 4 * INTERVAL_S * 1_000

const insert = async (regions = ['us-east']) => {
  const id = await insertMonitor(db, projectId, { intervalSeconds: INTERVAL_S, regions })
  await insertChannel(db, projectId, [id])
  return id
}
/** Publishes results of these monitors repeatedly, until the test ends or they are removed. */
const checked = new Map<string, boolean>()
const others = await insert()
checked.set(others, true)
let isPublishing = false
const publishing = setInterval(async () => {
  // while NATS is away, only one publication waits for it
  if (isPublishing) return
  isPublishing = true
  const results = [...checked].map(([id, up]) => createNextResult(id, { up, scheduledAtMs: Date.now() }))
  await publish(nats, results).catch(() => {})
  isPublishing = false
}, 500)
t.teardown(() => clearInterval(publishing))

const readStatus = async (id: string) =>
  (await query<{ status: string | null }>(db, 'SELECT status FROM monitors WHERE id = ?', [id]))[0]!.status
const is = (id: string, status: string | null) =>
  waitFor(async () => (await readStatus(id)) === status, { label: `${status}` })
const readEventNames = async (id: string) =>
  (await query<{ name: string }>(db, 'SELECT name FROM events WHERE subject = ? ORDER BY id', [`monitor:${id}`])).map(
    ({ name }) => name,
  )
const readDeliveries = (id: string) =>
  query(db, `SELECT event_name AS name FROM deliveries WHERE subject = ? ORDER BY id`, [`monitor:${id}`])
/** The region states that probes received, as `<monitor> pending`. */
const received = new Set<string>()
nats.connection.subscribe(stateHintSubject('us-east'), {
  callback: (_, { data }) => {
    const { states } = JSON.parse(new TextDecoder().decode(data)) as { states: { monitorId: string; state: number }[] }
    for (const { monitorId, state } of states) if (state === RegionState.PENDING) received.add(`${monitorId} pending`)
  },
})
const path = async (id: string) => (await readTransitions(db, id)).map(({ from, to }) => `${from}>${to}`).join(' ')

t.test('while NATS is available', async t => {
  // most of the time they wait, each for its own monitor
  t.jobs = 6
  t.test('a monitor that no probe checks loses its status with one notification, and recovers without one', async t => {
    const id = await insert()
    checked.set(id, true)
    await is(id, 'up')
    checked.delete(id)
    await is(id, null)
    const [last] = await query<{ lostMs: number; seenMs: number }>(
      db,
      `SELECT CAST(extract(epoch FROM created_at - at) * 1000 AS float8) AS "lostMs" FROM transitions
     WHERE monitor_id = ? AND to_status IS NULL`,
      [id],
    )
    t.comment(`the status was lost ${last!.lostMs} ms after the last check`)
    await waitFor(() => received.has(`${id} pending`), { label: 'the hint that the region begins as a new one' })
    t.ok(last!.lostMs >= LIFETIME_MS - 1_000, 'the time since the last check is unknown')
    t.same(await readEventNames(id), ['monitor.unchecked'])
    t.same(await readDeliveries(id), [{ name: 'monitor.unchecked' }])

    checked.set(id, true)
    await is(id, 'up')
    t.equal(await path(id), 'null>up up>null null>up')
    t.same(await readEventNames(id), ['monitor.unchecked'])
  })

  t.test(
    'an outage continues while no probe checks the monitor, and up afterwards ends it with a notification',
    async t => {
      const id = await insert()
      checked.set(id, false)
      await is(id, 'down')
      checked.delete(id)
      await is(id, null)
      const incident = async () =>
        (
          await query<{ status: string }>(
            db,
            'SELECT status FROM incidents i JOIN incident_monitors m ON m.incident_id = i.id WHERE m.monitor_id = ?',
            [id],
          )
        )[0]!.status
      t.not(await incident(), 'resolved')
      checked.set(id, true)
      await is(id, 'up')
      t.equal(await incident(), 'resolved')
      t.same(await readEventNames(id), ['monitor.down', 'monitor.unchecked', 'monitor.up'])
      t.equal(await path(id), 'null>down down>null null>up')
    },
  )

  t.test('a monitor that is down again afterwards, as before, is not reported twice', async t => {
    const id = await insert()
    checked.set(id, false)
    await is(id, 'down')
    checked.delete(id)
    await is(id, null)
    checked.set(id, false)
    await is(id, 'down')
    t.same(await readEventNames(id), ['monitor.down', 'monitor.unchecked'])
    t.equal(await path(id), 'null>down down>null null>down')
  })

  t.test('a monitor that was up before and is down afterwards is reported down', async t => {
    const id = await insert()
    checked.set(id, true)
    await is(id, 'up')
    checked.delete(id)
    await is(id, null)
    checked.set(id, false)
    await is(id, 'down')
    t.same(await readEventNames(id), ['monitor.unchecked', 'monitor.down'])
  })

  t.test('paused monitors and heartbeats never become unchecked', async t => {
    const [paused, heartbeat, late] = [await insert(), await insert(), await insert()]
    checked.set(paused, true)
    await is(paused, 'up')
    await execute(db, `UPDATE monitors SET type = 'heartbeat', heartbeat_interval = 60, status = 'up' WHERE id = ?`, [
      heartbeat,
    ])
    await execute(db, 'UPDATE monitors SET is_paused = true, config_version = config_version + 1 WHERE id = ?', [
      paused,
    ])
    checked.delete(paused)
    checked.set(late, true)
    await is(late, 'up')
    checked.delete(late)
    await is(late, null)
    t.equal(await readStatus(heartbeat), 'up')
    t.equal(await readStatus(paused), 'up')
    t.same(await readEventNames(paused), [])
  })

  t.test('a monitor in maintenance loses its status, and its owner is notified afterwards', async t => {
    const id = await insert()
    checked.set(id, true)
    await is(id, 'up')
    await execute(
      db,
      `INSERT INTO silences (monitor_id, withheld, reason, is_parent_down, is_asked, is_answered, due_at)
     VALUES (?, '{}', 'maintenance', false, false, false, now() + interval '1 day')`,
      [id],
    )
    checked.delete(id)
    await is(id, null)
    t.same(await readEventNames(id), [])
    await execute(db, 'DELETE FROM silences WHERE monitor_id = ?', [id])
    await waitFor(async () => (await readEventNames(id)).length === 1, { label: 'the event' })
    t.same(await readEventNames(id), ['monitor.unchecked'])
  })
})

t.test('no monitor loses its status while NATS is unavailable, nor within three intervals after it', async t => {
  const id = await insert()
  checked.set(id, true)
  await is(id, 'up')
  checked.delete(id)
  await server.stop()
  const stoppedMs = Date.now()
  await waitFor(() => Date.now() - stoppedMs > 2 * LIFETIME_MS, { label: 'a time without NATS' })
  t.equal(await readStatus(id), 'up')
  t.equal(await readStatus(others), 'up')
  const backMs = Date.now()
  await server.restart()
  await is(id, null)
  const afterMs = Date.now() - backMs
  t.comment(`${afterMs} ms after NATS was back`)
  t.ok(afterMs >= LIFETIME_MS, `${afterMs} ms`)
  t.equal(await readStatus(others), 'up')
  t.same(await readEventNames(others), [])
})
