import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { createDatabaseClock } from '../support/database-clock.ts'
import { all, connectProbe, createTestFleet, FAST, type TestFleet, type TestProbe } from '../support/fleet.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about a minute

const COUNT = 60
const HOUR_MS = 3_600_000

/** `given`: the fleet, when the test has prepared its database. */
async function setUp(t: Teardown, timing = FAST, given?: TestFleet) {
  const fleet = given ?? (await createTestFleet(t))
  const ids = await insertMonitors(fleet.db, fleet.projectId, COUNT, { regions: ['eu-west'] })
  const token = await fleet.token()
  const one = await fleet.start(timing)
  const connect = (name: string, port = one.port) => connectProbe(t, port, token, { name })
  const shared = (...probes: TestProbe[]) =>
    waitFor(() => probes.every(probe => probe.assigned.size > 0) && isSplit(ids, probes), { label: 'a fair split' })
  return { fleet, ids, one, connect, shared }
}

/** The same with a clock of PostgreSQL that the test sets. */
async function setUpWithClock(t: Teardown, aheadMs: number, timing = FAST) {
  const { url } = await createDatabase(t)
  const setter = createPostgres(url, 1)
  t.teardown(() => setter.destroy())
  const clock = await createDatabaseClock(setter)
  await clock.setAhead(aheadMs)
  const db = createPostgres(url, 20)
  t.teardown(() => db.destroy())
  const fleet = await createTestFleet(t, { url, db, secrets: createSecretCipher(randomBytes(32)) })
  return { clock, ...(await setUp(t, timing, fleet)) }
}

/** True when exactly one of the probes checks each monitor. */
const isSplit = (ids: string[], probes: TestProbe[]) =>
  ids.every(id => probes.filter(probe => probe.assigned.has(id)).length === 1)

t.test('Probes of one region share its monitors, and those of a silent probe move', async t => {
  const { fleet, ids, connect, shared } = await setUp(t)
  const [a, b] = [connect('a'), connect('b')]
  await shared(a, b)
  const kept = [...a.assigned.keys()]
  const { epoch } = await fleet.epoch()

  const acks = all(b, 'heartbeatAck').length
  await waitFor(() => all(b, 'heartbeatAck').length > acks, { label: 'its last heartbeat', everyMs: 1 })
  b.beat(0)
  const silentSince = performance.now()
  t.match(await b.ended, { details: /no message of this probe arrived/ })
  await waitFor(() => a.assigned.size === COUNT)
  const tookMs = performance.now() - silentSince
  t.ok(tookMs > 0.9 * FAST.deadAfterMs, 'not before the time limit')
  const next = (await fleet.epoch()).epoch
  t.ok(next > epoch)
  await waitFor(() => all(a, 'epochChanged').at(-1)?.epoch === next)
  t.ok(
    a.upserts.filter(upsert => kept.includes(upsert.monitorId)).length === kept.length,
    'what the remaining probe had is not sent again',
  )

  const backSince = performance.now()
  const back = connect('b')
  await back.ready()
  t.equal(back.assigned.size, 0, 'a probe that reconnected stops everything and waits')
  await waitFor(() => back.assigned.size > 0)
  t.ok(performance.now() - backSince > FAST.steadyAfterMs, 'until it has been connected for some time')
  await shared(a, back)
  t.ok(isSplit(ids, [a, back]))
})

t.test('The work of a probe that reaches no target moves to another one until it does again', async t => {
  const { ids, connect, shared } = await setUp(t)
  const [a, b] = [connect('a'), connect('b')]
  await shared(a, b)
  a.beat(100, false)
  await waitFor(() => b.assigned.size === COUNT && a.assigned.size === 0, {
    label: 'that the other one has everything',
  })
  a.beat(100, true)
  await shared(a, b)
  t.ok(isSplit(ids, [a, b]))

  // where neither reaches a target, nothing moves
  const before = [a.assigned.size, b.assigned.size]
  a.beat(100, false)
  b.beat(100, false)
  await waitFor(() => all(b, 'heartbeatAck').length > 0)
  const acknowledged = all(b, 'heartbeatAck').length
  await waitFor(() => all(b, 'heartbeatAck').length > acknowledged + (2 * FAST.deadAfterMs) / 100, {
    label: 'two limits',
  })
  t.same([a.assigned.size, b.assigned.size], before)
})

t.test('The first probe of a region gets work immediately, also when it reconnected', async t => {
  // a probe that had to wait would get nothing in this test
  const { fleet, connect } = await setUp(t, { ...FAST, steadyAfterMs: 3_600_000 })
  const first = connect('a')
  await first.ready()
  t.equal(first.assigned.size, COUNT)
  first.cut()
  await waitFor(async () => (await fleet.epoch()).probeIds.length === 0, { label: 'the empty live set' })
  const again = connect('a')
  await waitFor(() => again.assigned.size === COUNT, { label: 'work without waiting' })
})

t.test('A short interruption moves nothing', async t => {
  const { fleet, connect, shared } = await setUp(t)
  const [a, b] = [connect('a'), connect('b')]
  await shared(a, b)
  const before = await fleet.epoch()
  b.cut()
  const again = connect('b')
  await shared(a, again)
  await waitFor(() => all(again, 'heartbeatAck').length > 15)
  t.same(await fleet.epoch(), before)
})

t.test('A draining probe loses its work immediately', async t => {
  const { fleet, connect, shared } = await setUp(t)
  const [a, b] = [connect('a'), connect('b')]
  await shared(a, b)
  b.send({ $case: 'draining', value: {} })
  await waitFor(() => a.assigned.size === COUNT && b.assigned.size === 0)
  t.same((await fleet.epoch()).probeIds, [await a.probeId()])
  const acks = all(b, 'heartbeatAck').length
  await waitFor(() => all(b, 'heartbeatAck').length > acks, { label: 'its session to continue' })
})

t.test('A draining probe loses its work although PostgreSQL refuses the first statement', async t => {
  const { fleet, connect, shared } = await setUp(t)
  const [a, b] = [connect('a'), connect('b')]
  await shared(a, b)
  await execute(fleet.db, 'CREATE SEQUENCE attempts')
  await execute(
    fleet.db,
    `CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF nextval('attempts') = 1 THEN RAISE 'refused'; END IF;
       RETURN NEW;
     END $$`,
  )
  await execute(
    fleet.db,
    `CREATE TRIGGER refuse_once BEFORE UPDATE OF is_draining ON probes
     FOR EACH ROW WHEN (NEW.is_draining) EXECUTE FUNCTION refuse_once()`,
  )
  b.send({ $case: 'draining', value: {} })
  await waitFor(() => a.assigned.size === COUNT && b.assigned.size === 0)
})

t.test('Two fleet processes agree on the live set and the epoch', async t => {
  const { fleet, connect, one, shared } = await setUp(t)
  const two = await fleet.start(FAST)
  const [a, b, c] = [connect('a', one.port), connect('b', two.port), connect('c', two.port)]
  await shared(a, b, c)
  const agreed = await fleet.epoch()
  t.equal(agreed.probeIds.length, 3)
  await waitFor(() => [a, b, c].every(probe => probe.has.epoch === agreed.epoch), { label: 'the same epoch' })

  await t.test('The work of a probe of an ended process moves to other probes', async t => {
    c.beat(0)
    await two.stop()
    await waitFor(() => a.assigned.size === COUNT, { label: 'all monitors at the last probe' })
    t.same((await fleet.epoch()).probeIds, [await a.probeId()])
  })

  await t.test('A probe that connects to another process loses its first session', async t => {
    const three = await fleet.start(FAST)
    const moved = connect('a', three.port)
    await moved.ready()
    t.match(await a.ended, { details: /connected to another process/ })
    await waitFor(() => moved.assigned.size === COUNT)
    const rows = await query<{ to: string }>(fleet.db, `SELECT connected_to AS to FROM probes WHERE name = 'a'`)
    t.match(rows[0]?.to, /^fleet-3 /)
  })
})

t.test('The monitors of a probe that ends after PostgreSQL’s clock was set back move to another one', async t => {
  const { fleet, clock, connect, shared } = await setUpWithClock(t, HOUR_MS)
  const [a, b, drained] = [connect('a'), connect('b'), connect('drained')]
  await shared(a, b, drained)
  await execute(fleet.db, `UPDATE probes SET drained_until = now() + interval '1 hour' WHERE name = 'drained'`)
  await shared(a, b)
  const isRecorded = `SELECT FROM probes WHERE name = 'b' AND last_seen_at > connected_at`
  await waitFor(async () => (await query(fleet.db, isRecorded)).length > 0, { label: 'a heartbeat of that time' })
  await clock.setAhead(0)
  b.cut()
  await waitFor(() => a.assigned.size === COUNT, { label: 'all monitors at the other probe' })
  const stillAhead = `SELECT name FROM probes
    WHERE greatest(last_seen_at, connected_at, drained_until - interval '1 hour') > now()`
  t.same(await query(fleet.db, stillAhead), [], 'no time of a probe is still to come')
  t.equal(drained.assigned.size, 0, 'a drain lasts')
})

t.test('No monitor moves when PostgreSQL’s clock is set ahead', async t => {
  const timing = { ...FAST, heartbeatIntervalMs: 3_000, roundIntervalMs: 1_000, deadAfterMs: 10_000 }
  const { fleet, clock, connect, shared } = await setUpWithClock(t, 0, timing)
  const [a, b, c] = [connect('a'), connect('b'), connect('c')]
  await shared(a, b, c)
  c.cut()
  // from now on the process evicts
  await shared(a, b)
  const before = await fleet.epoch()
  const recorded = async () =>
    (await query<{ at: Date }>(fleet.db, `SELECT min(last_seen_at) AS at FROM probes WHERE name <> 'c'`))[0]!.at
  const last = await recorded()
  await waitFor(async () => (await recorded()) > last, { label: 'new records', everyMs: 20 })
  await clock.setAhead(HOUR_MS)
  await waitFor(async () => Number(await recorded()) > Number(last) + HOUR_MS, { label: 'records of the new time' })
  t.same(await fleet.epoch(), before)
})
