import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { decryptPingToken } from '../../control-plane/monitoring/monitors/settings/encryption.ts'
import { findMonitor } from '../../control-plane/monitoring/monitors/store.ts'
import {
  assignPingTokens,
  evaluateOverdue,
  MIN_KEPT_PINGS,
  recordIntakeAlive,
  storePings,
  WithdrawnPingError,
} from '../../control-plane/verdict/heartbeats/actions.ts'
import { findFirstDueInMs } from '../../control-plane/verdict/heartbeats/store.ts'
import type { PingArrival } from '../../control-plane/verdict/heartbeats/types.ts'
import { createLog } from '../../shared/process/log.ts'
import { createDatabase } from '../support/database.ts'
import { createDatabaseClock } from '../support/database-clock.ts'
import { buildPingArrival, countOutageRows, readHeartbeat, runOut, storeWhenFree } from '../support/heartbeats.ts'
import { openTransaction, waitForLock } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel, insertMonitors, readStatuses } from '../support/verdict.ts'

const { url } = await createDatabase(t)
/** Several processes, each with its own connections. */
const [db, other] = [createPostgres(url, 8), createPostgres(url, 8)]
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))
const { projectId } = await insertTenant(db)
const secrets = createSecretCipher(randomBytes(32))
const log = createLog('test', 'silent')
const tools = (on = db) => ({ db: on, publicUrl: 'https://picket.example', log })

/** Heartbeat monitors of an hour and a minute, from before there were ping URLs. */
async function createHeartbeats(count: number): Promise<{ id: string; token: string }[]> {
  const ids = await insertMonitors(db, projectId, count)
  await execute(
    db,
    `UPDATE monitors SET type = 'heartbeat', heartbeat_interval = 3600, heartbeat_grace = 60 WHERE id = ANY(?::uuid[])`,
    [ids],
  )
  await insertChannel(db, projectId, ids)
  while ((await assignPingTokens(db, secrets)) > 0);
  return Promise.all(
    ids.map(async id => ({ id, token: decryptPingToken((await findMonitor(db, projectId, id))!, secrets)! })),
  )
}
const HOUR_MS = 3_600_000
const create = async () => (await createHeartbeats(1))[0]!

/** Pings count as accepted for the next hour, so that a pause of this machine is not a gap. */
const keepListening = () =>
  execute(db, `UPDATE heartbeat_intake SET listening_at = clock_timestamp() + interval '1 hour'`)
const beat = (token: string, on = db) => storeWhenFree(tools(on), [buildPingArrival(token)])

t.test('heartbeat monitors without a ping URL get one each, once', async t => {
  const [a, b] = await createHeartbeats(2)
  t.match(a!.token, /^[0-9A-Za-z]{24}$/)
  t.not(a!.token, b!.token)
  t.equal(await assignPingTokens(db, secrets), 0)
  t.same(await beat(a!.token), [true])
})

t.test('a heartbeat that several processes find overdue causes one transition, incident and delivery', async t => {
  const beats = await createHeartbeats(20)
  await storePings(
    tools(),
    beats.map(({ token }) => buildPingArrival(token)),
  )
  await keepListening()
  for (const { id } of beats) await runOut(db, id)
  await Promise.all([db, other, db, other, db, other].map(on => evaluateOverdue(tools(on), 7)))
  while ((await evaluateOverdue(tools(), 7)) > 0);
  for (const { id } of beats) t.same(await countOutageRows(db, id), { downs: 1, ups: 1, incidents: 1, deliveries: 1 })
})

t.test('a success that is accepted before the deadline and stored some seconds later prevents an outage', async t => {
  const { id, token } = await create()
  await beat(token)
  await keepListening()
  const startedMs = performance.now()
  await execute(db, 'UPDATE heartbeats SET due_at = now() WHERE monitor_id = ?', [id])
  await evaluateOverdue(tools(), 100)
  const dueInMs = (await findFirstDueInMs(db))!
  await beat(token)
  const took = performance.now() - startedMs
  t.ok(dueInMs <= 7_000 && dueInMs >= 7_000 - took - 1_000, `${dueInMs} ms until the evaluation`)
  // on a machine that paused for longer it was overdue
  if (took < 6_000) t.equal(await readStatuses(db, id), 'up')
  t.ok((await readHeartbeat(db, id))!.due_at! > new Date())
})

t.test('a failure that several processes receive causes one transition, incident and delivery', async t => {
  const { id, token } = await create()
  await beat(token)
  const fail = buildPingArrival(token, 'fail')
  await Promise.all(Array.from({ length: 12 }, (_, i) => storeWhenFree(tools(i % 2 ? db : other), [fail, fail])))
  t.same(await countOutageRows(db, id), { downs: 1, ups: 1, incidents: 1, deliveries: 1 })
  t.equal((await readHeartbeat(db, id))?.pings, 25, 'and every ping is kept')
})

t.test('a success and the overdue worker at the same moment run one after the other', async t => {
  const beats = await createHeartbeats(12)
  for (const { token } of beats) await beat(token)
  for (let round = 0; round < 6; round++) {
    await keepListening()
    for (const { id } of beats) await runOut(db, id)
    await Promise.all([
      evaluateOverdue(tools(other), 100),
      ...beats.map(({ token }) => beat(token)),
      evaluateOverdue(tools(other), 100),
    ])
  }
  for (const { id } of beats) {
    t.match(await readStatuses(db, id), /^up( down up)*$/)
    const counts = (await countOutageRows(db, id)) as { downs: number; incidents: number; deliveries: number }
    t.equal(counts.incidents, counts.downs)
    t.equal(counts.deliveries, counts.downs * 2)
    t.ok((await readHeartbeat(db, id))?.due_at, 'the next success is waited for')
  }
})

t.test('a monitor with invalid rows stops neither the pings nor the deadlines of others', async t => {
  const [broken, sound, late] = await createHeartbeats(3)
  for (const { token } of [broken!, sound!, late!]) await beat(token)
  await execute(db, `UPDATE verdict_states SET state = '{}' WHERE monitor_id = ?`, [broken!.id])
  const [refused, taken] = await storePings(tools(), [buildPingArrival(broken!.token), buildPingArrival(sound!.token)])
  t.ok(refused instanceof Error)
  t.equal(taken, true)
  await keepListening()
  await runOut(db, broken!.id)
  await runOut(db, late!.id)
  await evaluateOverdue(tools(), 100)
  t.equal(await readStatuses(db, late!.id), 'up down')
  t.ok((await readHeartbeat(db, broken!.id))!.due_at! > new Date(), 'it is tried again later')
})

t.test('a heartbeat that became a monitor of another type is not overdue', async t => {
  const { id, token } = await create()
  await beat(token)
  await keepListening()
  await execute(db, `UPDATE monitors SET type = 'http', status = 'degraded' WHERE id = ?`, [id])
  const before = await query(db, 'SELECT state FROM verdict_states WHERE monitor_id = ?', [id])
  await runOut(db, id)
  while ((await evaluateOverdue(tools(), 7)) > 0);
  t.same(await query(db, 'SELECT state FROM verdict_states WHERE monitor_id = ?', [id]), before)
  t.match(await countOutageRows(db, id), { downs: 0, incidents: 0, deliveries: 0 })
  t.equal((await readHeartbeat(db, id))?.due_at, null)
})

t.test('no heartbeat is overdue while no process accepts pings, and deadlines in the gap are extended', async t => {
  const [due, daily, before, shortlyBefore] = await createHeartbeats(4)
  await execute(db, `UPDATE monitors SET heartbeat_interval = 86400 WHERE id = ?`, [daily!.id])
  for (const { token } of [due!, daily!, before!, shortlyBefore!]) await beat(token)
  const { due_at: dailyBefore } = (await readHeartbeat(db, daily!.id))!
  await runOut(db, due!.id)
  await execute(db, `UPDATE heartbeats SET due_at = now() - interval '1 hour' WHERE monitor_id = ?`, [before!.id])
  await execute(db, `UPDATE heartbeat_intake SET listening_at = now() - interval '10 minutes'`)
  const sql = `UPDATE heartbeats SET due_at = listening_at - interval '3 s' FROM heartbeat_intake WHERE monitor_id = ?`
  await execute(db, sql, [shortlyBefore!.id])
  t.equal(await evaluateOverdue(tools(), 100), 0)
  const beforeMs = Date.now()
  const gaps = await Promise.all([recordIntakeAlive(db), recordIntakeAlive(other)])
  const afterMs = Date.now()
  t.equal(gaps.filter(({ outage }) => outage !== null).length, 1, 'recorded once')
  await keepListening()
  await evaluateOverdue(tools(), 100)
  t.equal(await readStatuses(db, due!.id), 'up', 'its ping may have been sent')
  t.equal(await readStatuses(db, before!.id), 'up down', 'it was overdue before')
  const shortlyMs = (await readHeartbeat(db, shortlyBefore!.id))!.due_at!.getTime()
  t.ok(shortlyMs >= beforeMs - 1 && shortlyMs <= afterMs + 1, 'a ping that was accepted before the gap is stored first')
  const dueMs = (await readHeartbeat(db, due!.id))!.due_at!.getTime() - 61 * 60_000
  // PostgreSQL's clock counts in microseconds
  t.ok(dueMs >= beforeMs - 1 && dueMs <= afterMs + 1, 'an interval and its grace from the end of the silence')
  const { due_at: dailyDueAt } = (await readHeartbeat(db, daily!.id))!
  t.same(dailyDueAt, dailyBefore, 'it has its time')
})

t.test(
  'a heartbeat whose ping may have come early in a gap, or whose run had started, has its deadline extended',
  async t => {
    const [early, running, later] = await createHeartbeats(3)
    const ids = [early!.id, running!.id, later!.id]
    await execute(db, 'UPDATE monitors SET heartbeat_interval = 86400, heartbeat_grace = 3600 WHERE id = ANY (?)', [
      ids,
    ])
    for (const { token } of [early!, running!, later!]) await beat(token)
    // a day less a minute after the last ping
    await execute(db, "UPDATE heartbeats SET due_at = now() + interval '61 minutes' WHERE monitor_id = ?", [early!.id])
    await execute(db, 'UPDATE heartbeats SET run_started_at = now() WHERE monitor_id = ?', [running!.id])
    const readDueMs = async (id: string) => (await readHeartbeat(db, id))!.due_at!.getTime()
    const before = await Promise.all(ids.map(readDueMs))
    await execute(db, `UPDATE heartbeat_intake SET listening_at = now() - interval '40 s'`)
    await recordIntakeAlive(db)
    const after = await Promise.all(ids.map(readDueMs))
    t.ok(after[0]! > Date.now() + 24 * 3_600_000, 'an interval and its grace')
    t.ok(after[1]! > before[1]!)
    t.equal(after[2], before[2], 'it has its time')
  },
)

t.test('gaps that repeat do not postpone the deadline of a job that has ended without end', async t => {
  const [ended, hung, frequent] = await createHeartbeats(3)
  const ids = [ended!.id, hung!.id, frequent!.id]
  for (const { token } of [ended!, hung!, frequent!]) await beat(token)
  await execute(db, 'UPDATE monitors SET heartbeat_interval = 60 WHERE id = ?', [frequent!.id])
  const readDueMs = async (id: string) => (await readHeartbeat(db, id))!.due_at!.getTime()
  /** A gap while a run of `hung` goes on, and the deadlines of the others are in it. Returns which deadlines it moved. */
  const passGap = async (sinceSuccess: string) => {
    await execute(
      db,
      `UPDATE heartbeats SET last_success_at = now() - CAST(? AS interval), due_at = now() - interval '20 s'
       WHERE monitor_id = ANY(?)`,
      [sinceSuccess, ids],
    )
    await execute(
      db,
      `UPDATE heartbeats SET run_started_at = now() - interval '1 minute', due_at = now() + interval '30 minutes'
       WHERE monitor_id = ?`,
      [hung!.id],
    )
    await execute(db, `UPDATE heartbeat_intake SET listening_at = now() - interval '40 s'`)
    const before = await Promise.all(ids.map(readDueMs))
    await recordIntakeAlive(db)
    const after = await Promise.all(ids.map(readDueMs))
    return after.map((due, i) => due > before[i]!)
  }
  t.same(await passGap('55 minutes'), [true, true, true])
  t.same(await passGap('2 hours'), [true, true, false], 'two intervals and graces, and at least an hour')
  t.same(await passGap('3 hours'), [false, false, false])
  await keepListening()
  await evaluateOverdue(tools(), 100)
  t.equal(await readStatuses(db, ended!.id), 'up down')
})

t.test('the newest thousand pings of each heartbeat are kept', async t => {
  const { id, token } = await create()
  const many = Array.from({ length: 250 }, () => buildPingArrival(token, 'log'))
  for (let i = 0; i < 5; i++) await storePings(tools(), many)
  const [row] = await query<object>(
    db,
    'SELECT count(*) AS n, min(number) AS first, max(number) AS last FROM pings WHERE monitor_id = ?',
    [id],
  )
  t.match(row, { last: 1_250 })
  t.ok(
    (row as { n: number }).n >= MIN_KEPT_PINGS && (row as { n: number }).n <= MIN_KEPT_PINGS + 350,
    JSON.stringify(row),
  )
})

t.test('a queued ping is stored once, with the time of its arrival, and does not override a newer one', async t => {
  const { id, token } = await create()
  await beat(token)
  const [{ nowMs }] = (await query<{ nowMs: number }>(
    db,
    'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS "nowMs"',
  )) as [{ nowMs: number }]
  const kept = (kind: 'success' | 'fail', receivedAtMs: number): PingArrival => ({
    ...buildPingArrival(token, kind),
    receivedAtMs,
    isKept: true,
  })
  const late = kept('fail', nowMs - 60_000)
  t.same(await storePings(tools(), [late]), [true])
  t.match(await readStatuses(db, id), 'up', 'a failure from before the last success changes nothing')
  const fresh = kept('fail', nowMs + 60_000)
  t.same(await storePings(tools(), [fresh]), [true])
  t.same(await Promise.all([storeWhenFree(tools(), [fresh]), storeWhenFree(tools(other), [fresh, late])]), [
    [true],
    [true, true],
  ])
  t.match(await readStatuses(db, id), 'up down')
  t.equal((await readHeartbeat(db, id))?.pings, 3, 'what was delivered again is not stored again')
})

t.test('queued pings that are stored after an outage do not make their monitors overdue', async t => {
  const [alive, silent] = await createHeartbeats(2)
  for (const { token } of [alive!, silent!]) await beat(token)
  const ids = [alive!.id, silent!.id]
  const agoMs = 5 * HOUR_MS
  await execute(
    db,
    `UPDATE heartbeats SET due_at = now() - interval '4 hours', last_ping_at = now() - interval '6 hours'
     WHERE monitor_id = ANY (?::uuid[])`,
    [ids],
  )
  await execute(db, `UPDATE heartbeat_intake SET listening_at = now() - interval '5 hours'`)
  t.ok((await recordIntakeAlive(db)).outage, 'the deadlines are extended')
  await keepListening()
  t.same(
    await storePings(tools(), [{ ...buildPingArrival(alive!.token), receivedAtMs: Date.now() - agoMs, isKept: true }]),
    [true],
  )
  await evaluateOverdue(tools(), 100)
  t.same(await Promise.all(ids.map(id => readStatuses(db, id))), ['up', 'up'])
})

t.test('a ping that was queued while it waited for its commit is left out of the commit', async t => {
  const { id, token } = await create()
  const [answer] = await storePings(tools(), [{ ...buildPingArrival(token), isWithdrawn: true }])
  t.ok(answer instanceof WithdrawnPingError)
  t.equal((await readHeartbeat(db, id))?.pings ?? 0, 0)
})

t.test('A clock that is set ahead between two statements of an evaluation makes no heartbeat overdue', async t => {
  const clock = await createDatabaseClock(db)
  const late = createPostgres(url, 2)
  t.teardown(() => late.destroy())
  const { id, token } = await create()
  await beat(token)
  await keepListening()
  const holder = await openTransaction(db)
  await execute(holder, 'LOCK TABLE heartbeats IN ACCESS EXCLUSIVE MODE')
  const evaluation = evaluateOverdue(tools(late), 10)
  await waitForLock(db)
  await clock.setAhead(3 * HOUR_MS)
  await holder.commit()
  t.equal(await evaluation, 0)
  t.match(await countOutageRows(db, id), { downs: 0 })
})
