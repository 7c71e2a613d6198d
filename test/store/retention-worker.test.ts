import t from 'tap'
import { replayDelivery } from '../../control-plane/alerting/deliveries/queue/enqueue-actions.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createRetentionPass } from '../../control-plane/operations/retention/actions.ts'
import { RETENTION_RULES } from '../../control-plane/operations/retention/rules.ts'
import { deleteBatch, loadEarlierNow } from '../../control-plane/operations/retention/store.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import {
  daysAgo,
  insertDelivery,
  insertEvent,
  listKept,
  RETENTION,
  runRetentionRound,
  startRetention,
} from '../support/aged.ts'
import { createDatabase } from '../support/database.ts'
import { keepOpen } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const { projectId } = await insertTenant(db)
const channelId = await insertChannel(db, projectId, [])
const eventId = await insertEvent(db, projectId, 1)
const at = { projectId, channelId, eventId }
const DELIVERIES = RETENTION_RULES.find(({ name }) => name === 'deliveries')!

/** Many old deliveries, and as many young ones. */
const insertMany = (count: number) =>
  execute(
    db,
    `INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, created_at, updated_at)
     SELECT 'whd_' || replace(uuidv7(-age)::text, '-', ''), :projectId, :channelId, :eventId, 'monitor.up', 'm',
       'delivered', now() - age, now() - age
     FROM generate_series(1, :count), unnest(ARRAY[interval '40 days', interval '20 days']) AS age`,
    { ...at, count },
  )

async function counts() {
  const [row] = await query<{ old: number; young: number }>(
    db,
    `SELECT count(*) FILTER (WHERE created_at < now() - interval '30 days') AS old,
       count(*) FILTER (WHERE created_at >= now() - interval '30 days') AS young FROM deliveries`,
  )
  return row!
}

t.test('A backlog is deleted in batches and counted, and young rows stay', async t => {
  await insertMany(2_500)
  const rows = await runRetentionRound(db)
  t.same(await counts(), { old: 0, young: 2_500 })
  t.equal(await rows('deliveries'), 2_500)
})

t.test('Two concurrent processes delete each row once', async t => {
  await insertMany(5_500)
  const workers = [startRetention(db), startRetention(db)]
  await waitFor(async () => (await counts()).old === 0)
  await Promise.all(workers.map(worker => worker.stop()))
  const rows = await Promise.all(workers.map(worker => worker.sample('picket_retention_rows_total{rule="deliveries"}')))
  t.equal((rows[0] ?? 0) + (rows[1] ?? 0), 5_500)
  t.equal((await counts()).young, 8_000)
})

t.test('A process does nothing while another one deletes', async t => {
  await db.transaction(async tx => {
    await deleteBatch(tx as never, DELIVERIES, daysAgo(30), '')
    t.equal(await deleteBatch(db, DELIVERIES, daysAgo(30), ''), null)
  })
})

t.test('A process that stops during a backlog ends after its batch, and the next one continues', async t => {
  await insertMany(8_000)
  const worker = startRetention(db)
  await waitFor(() => worker.sample('picket_retention_rows_total{rule="deliveries"}'), { everyMs: 1 })
  await worker.stop()
  const { old } = await counts()
  t.ok(old > 0, `${old} are left`)
  t.equal(old % 1_000, 0, 'no batch is half done')
  await runRetentionRound(db)
  t.equal((await counts()).old, 0)
})

t.test('An aborted round is continued by the next one after the rows that stay', async t => {
  await insertMany(3_500)
  await execute(db, `UPDATE deliveries SET status = 'pending' WHERE created_at < now() - interval '30 days'`)
  const id = await insertDelivery(db, at, 31)
  const round = createRetentionPass({ db, retention: RETENTION, metrics: createMetrics() })
  await waitFor(async () => {
    const interrupted = new AbortController()
    const ended = round(interrupted.signal)
    // a query takes a part of the time of the round
    await query(db, 'SELECT 1')
    interrupted.abort()
    await ended
    return (await listKept(db, 'deliveries', { id })).length === 0
  })
  t.equal((await counts()).old, 3_500)
  await execute(db, 'DELETE FROM deliveries')
})

t.test('A locked row is left for the next round, and its neighbours are deleted', async t => {
  const ids = { locked: await insertDelivery(db, at, 31), free: await insertDelivery(db, at, 31) }
  await db.transaction(async tx => {
    await keepOpen(tx)
    await query(tx, 'SELECT id FROM deliveries WHERE id = ? FOR UPDATE', [ids.locked])
    await runRetentionRound(db)
    t.same(await listKept(db, 'deliveries', ids), ['locked'])
  })
  await runRetentionRound(db)
  t.same(await listKept(db, 'deliveries', ids), [])
})

t.test('A batch that cannot be deleted is skipped, counts as a failed round, and the others are deleted', async t => {
  await insertMany(1_500)
  await execute(
    db,
    `INSERT INTO digests (id, project_id, channel_id, due_at, closed_at, delivery_id)
     SELECT uuidv7(), :projectId, :channelId, now(), now(), min(id) FROM deliveries`,
    { projectId, channelId },
  )
  await db.transaction(async tx => {
    await keepOpen(tx)
    await query(tx, 'SELECT FROM digests FOR UPDATE')
    const worker = startRetention(db)
    await waitFor(() => worker.sample('picket_loop_rounds_total{loop="retention",outcome="failed"}'))
    await worker.stop()
    t.equal((await counts()).old, 1_000)
  })
  await runRetentionRound(db)
  t.equal((await counts()).old, 0)
  await execute(db, 'DELETE FROM deliveries')
})

t.test('A delivery that is replayed at the last moment is sent and not deleted', async t => {
  const id = await insertDelivery(db, at, 31)
  await replayDelivery(db, projectId, id, new Date())
  await runRetentionRound(db)
  t.match(await query(db, 'SELECT status FROM deliveries WHERE id = ?', [id]), [{ status: 'pending' }])
})

t.test('A clock of a process that is a year ahead deletes nothing', async t => {
  const clock = await loadEarlierNow(db, new Date(Date.now() + 365 * 86_400_000))
  t.ok(clock.getTime() < Date.now() + 60_000)
  const behind = new Date(Date.now() - 86_400_000)
  t.same(await loadEarlierNow(db, behind), behind)
})

t.test('The age of the oldest row is reported', async t => {
  await execute(db, 'DELETE FROM deliveries')
  await insertDelivery(db, at, 12)
  const worker = startRetention(db)
  const days = await waitFor(() => worker.sample('picket_retention_oldest_seconds{rule="deliveries"}'))
  await worker.stop()
  t.equal(Math.round(days / 86_400), 12)
})
