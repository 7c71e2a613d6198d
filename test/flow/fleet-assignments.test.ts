import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type Assignment, RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { stateHintSubject } from '../../shared/nats/subjects.ts'
import { all, connectProbe, createTestFleet, PATIENT, type TestFleet, type TestProbe } from '../support/fleet.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor, insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const REGIONS = ['eu-west']

/** `assignment`: what is different about the monitors, in SQL. */
async function setUp(t: Teardown, count: number, timing = PATIENT, assignment: string | null = null) {
  const fleet = await createTestFleet(t)
  const ids = await insertMonitors(fleet.db, fleet.projectId, count, { regions: REGIONS })
  if (assignment !== null) for (const id of ids) await set(fleet, id, assignment)
  const { port, stop, metrics } = await fleet.start(timing)
  const token = await fleet.token()
  const connect = (hello: Parameters<typeof connectProbe>[3] = {}) => connectProbe(t, port, token, hello)
  return { fleet, ids, connect, stop, port, token, metrics }
}

const set = (fleet: TestFleet, id: string, assignment: string) =>
  execute(fleet.db, `UPDATE monitors SET ${assignment} WHERE id = ?`, [id])

const has = (probe: TestProbe, count: number) =>
  waitFor(() => probe.assigned.size === count, { label: `${count} assignments (has ${probe.assigned.size})` })

t.test('A probe gets all its monitors, and each change with its notification', async t => {
  // the next poll is in a day
  const { fleet, ids, connect } = await setUp(t, 1_203, { ...PATIENT, monitorPollIntervalMs: 24 * 3_600_000 })
  await insertMonitor(fleet.db, fleet.projectId, { regions: ['us-east'] })
  const probe = connect()
  await probe.ready()
  t.equal(probe.assigned.size, 1_203, 'exactly the monitors of its region')
  const chunks = all(probe, 'assignments')
  t.same(
    chunks.map(chunk => [chunk.isSnapshot, chunk.isLast, chunk.upserts.length]),
    [
      [true, false, 500],
      [true, false, 500],
      [true, true, 203],
    ],
  )
  const first = probe.assigned.get(ids[0]!)
  t.match(first, { configVersion: 1, intervalS: 30, retryCount: 0, regionState: RegionState.PENDING })
  t.match(first?.spec, { type: 'http', url: 'https://shop.example', method: 'GET', timeoutMs: 5_000 })

  const changed = async (what: string, change: () => Promise<unknown>, seen: () => unknown) => {
    await change()
    await waitFor(seen, { label: what })
  }
  let made = ''
  await changed(
    'a new monitor',
    async () => {
      made = await insertMonitor(fleet.db, fleet.projectId, { regions: REGIONS })
    },
    () => probe.assigned.get(made)?.checkAtOnce,
  )
  await changed(
    'a changed monitor',
    () => set(fleet, made, `config_version = 2, url = 'https://other.example'`),
    () => probe.assigned.get(made)?.spec?.url === 'https://other.example',
  )
  t.ok(probe.assigned.get(made)?.checkAtOnce)
  await changed(
    'a pause',
    () => set(fleet, made, 'is_paused = true'),
    () => !probe.assigned.has(made),
  )
  await changed(
    'a resume',
    () => set(fleet, made, 'is_paused = false'),
    () => probe.assigned.get(made)?.checkAtOnce,
  )
  await changed(
    'a monitor that lost its address',
    () => set(fleet, made, 'config_version = 3, url = NULL'),
    () => !probe.assigned.has(made),
  )
  await changed(
    'a dropped region',
    () => set(fleet, ids[1]!, `config_version = 2, regions = '{us-east}'`),
    () => !probe.assigned.has(ids[1]!),
  )
  await changed(
    'a deletion',
    () => set(fleet, ids[0]!, 'deleted_at = now()'),
    () => !probe.assigned.has(ids[0]!),
  )
  t.equal(probe.assigned.size, 1_201)
})

t.test('A probe that reconnects gets only the changes', async t => {
  const { fleet, ids, connect, metrics } = await setUp(t, 20)
  const first = connect()
  await first.ready()
  const { revision, epoch } = first.has
  t.equal(epoch, (await fleet.epoch()).epoch)
  first.cut()
  await set(fleet, ids[0]!, 'is_paused = true')
  await set(fleet, ids[1]!, 'config_version = 2')
  const made = await insertMonitor(fleet.db, fleet.projectId, { regions: REGIONS })
  const knowsLast = async () => /^picket_fleet_monitors 21$/m.test((await metrics.render()).text)
  await waitFor(knowsLast, { label: 'a fleet with the last change' })

  const again = connect({ lastRevision: revision, lastEpoch: epoch })
  await waitFor(() => again.has.revision > revision)
  t.same(
    all(again, 'assignments').map(chunk => chunk.isSnapshot),
    [false],
  )
  t.same(all(again, 'assignments')[0]?.removals, [ids[0]])
  t.same(again.upserts.map(upsert => upsert.monitorId).sort(), [ids[1], made].sort())
  t.same(all(again, 'epochChanged'), [], 'the live set did not change')
})

t.test('A probe whose assignments belong to another live set gets a snapshot', async t => {
  const { connect } = await setUp(t, 5)
  const first = connect()
  await first.ready()
  const { revision } = first.has
  const cases = [
    { lastRevision: revision, lastEpoch: 7 },
    { lastRevision: revision },
    { lastRevision: revision + 1_000, lastEpoch: 1 },
    { lastRevision: 0, lastEpoch: 1 },
  ]
  for (const hello of cases) {
    const again = connect(hello)
    await again.ready()
    t.equal(again.assigned.size, 5, JSON.stringify(hello))
  }
})

const STORED_CELLS: Record<string, object> = {
  failing: { state: 'failing', doubt: { settledBy: 'probe' } },
  ok: { state: 'ok' },
  'in doubt': { state: 'failing', doubt: { settledBy: null } },
}

t.test('A reconnect causes immediate checks only of monitors without a stored state', async t => {
  const { fleet, ids, connect } = await setUp(t, 4)
  const cell = (state: string) => ({ region: 'eu-west', ...STORED_CELLS[state] })
  for (const [index, state] of ['failing', 'ok', 'in doubt'].entries()) {
    await execute(
      fleet.db,
      'INSERT INTO verdict_states (monitor_id, partition, state, updated_at) VALUES (?, 0, ?::jsonb, now())',
      [
        ids[index]!,
        JSON.stringify({ monitorId: ids[index], cells: [{ region: 'us-east', state: 'ok' }, cell(state)] }),
      ],
    )
  }
  const probe = connect()
  await probe.ready()
  const seen = ids.map(id => [probe.assigned.get(id)?.regionState, probe.assigned.get(id)?.checkAtOnce])
  t.same(seen, [
    [RegionState.FAILING, false],
    [RegionState.OK, false],
    [RegionState.PENDING, false],
    [RegionState.PENDING, true],
  ])
})

t.test('A new state of a region reaches the probe that checks the monitor', async t => {
  const { fleet, ids, connect } = await setUp(t, 2)
  const probe = connect()
  await probe.ready()
  const states = [
    { monitorId: ids[1], state: RegionState.FAILING },
    { monitorId: '01a2', state: RegionState.OK },
    { monitorId: ids[0], state: 99 },
    'nonsense',
  ]
  fleet.nats.connection.publish(stateHintSubject('eu-west'), 'not json')
  fleet.nats.connection.publish(stateHintSubject('eu-west'), JSON.stringify({ states }))
  await waitFor(() => all(probe, 'regionStates').length > 0)
  t.same(all(probe, 'regionStates'), [{ states: [{ monitorId: ids[1], state: RegionState.FAILING }] }])
})

t.test('A monitor whose secrets cannot be decrypted does not affect others', async t => {
  const { fleet, ids, connect } = await setUp(t, 3)
  await set(fleet, ids[0]!, `config_version = 2, headers = '\\x01020304'`)
  const probe = connect()
  await probe.ready()
  await has(probe, 2)
  t.notOk(probe.assigned.has(ids[0]!))
})

t.test('A large monitor has its own chunk', async t => {
  const { connect } = await setUp(t, 4, PATIENT, `body = repeat('x', 700000)`)
  const probe = connect()
  await probe.ready()
  const isLarge = ({ spec }: Assignment) => (spec?.body ?? '').length > 100_000
  await waitFor(() => [...probe.assigned.values()].filter(isLarge).length === 4, { label: 'four large assignments' })
  t.same(
    all(probe, 'assignments').map(chunk => chunk.upserts.length),
    [1, 1, 1, 1],
  )
})

t.test('After a restart of the control plane probes keep their work', async t => {
  const { fleet, connect, stop, token } = await setUp(t, 30)
  const [a, b] = [connect({ name: 'a' }), connect({ name: 'b' })]
  await Promise.all([a.ready(), b.ready()])
  await waitFor(async () => {
    const { epoch, probeIds } = await fleet.epoch()
    return probeIds.length === 2 && a.has.epoch === epoch && b.has.epoch === epoch
  })
  t.equal(a.assigned.size + b.assigned.size, 30)
  const before = await fleet.epoch()
  await stop()
  t.match(await a.ended, { code: 14, details: /connect again/ })

  await execute(fleet.db, `UPDATE probes SET last_seen_at = now() - ? * interval '1 ms'`, [1.2 * PATIENT.deadAfterMs])
  const { port } = await fleet.start(PATIENT)
  const again = [a, b].map((probe, i) =>
    connectProbe(t, port, token, {
      name: ['a', 'b'][i]!,
      lastRevision: probe.has.revision,
      lastEpoch: probe.has.epoch!,
    }),
  )
  await Promise.all(again.map(probe => waitFor(() => all(probe, 'heartbeatAck').length > 15)))
  t.same(await fleet.epoch(), before, 'no probe was evicted while no process received messages')
  t.same(
    again
      .flatMap(probe => all(probe, 'assignments'))
      .map(({ isSnapshot, upserts, removals }) => [isSnapshot, [...upserts, ...removals]]),
    [
      [false, []],
      [false, []],
    ],
    'a delta confirms their assignments',
  )
})
