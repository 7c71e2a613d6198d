import t, { type Test } from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createVerdictMetrics } from '../../control-plane/verdict/reader/metrics.ts'
import { type LagState, measureLag } from '../../control-plane/verdict/reader/partitions/lag-actions.ts'
import { RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { waitFor } from '../support/wait.ts'

/** A process that measures the lag of a stream with one message in partition 3, which is stored as counted. */
async function setUp(t: Test) {
  const db = createPostgres((await createDatabase(t)).url, 4)
  const server = await startNats(t)
  const nats = await connectNats(server.url, 'test')
  t.teardown(async () => {
    await nats.close()
    await db.destroy()
  })
  await ensureStreams(nats.manager)
  const publish = (partition: number) => nats.js.publish(resultSubject(partition, 'us-east'), 'x')
  /** As a reader stores how far it has counted. */
  const store = async (partition: number, position: number) => {
    const { created } = await nats.manager.streams.info(RESULTS_STREAM)
    await execute(
      db,
      'UPDATE partitions SET position = ?, stream_created = ?, position_taken_at = clock_timestamp() WHERE id = ?',
      [position, String(created), partition],
    )
  }
  const process = () => {
    const metrics = createMetrics()
    const tools = { db, nats, metrics: createVerdictMetrics(metrics) }
    const seen: LagState = { caughtUpWith: null }
    /** How many messages each partition is behind; null: unknown. */
    const shown = async (): Promise<(number | null)[]> => {
      const { text } = await metrics.render()
      return Array.from({ length: 16 }, (_, partition) => {
        const found = new RegExp(`^picket_verdict_lag_messages\\{partition="${partition}"\\} (\\d+)$`, 'm').exec(text)
        return found && Number(found[1])
      })
    }
    /** `counted`: what this process has counted itself, by partition. */
    const look = async (counted: Record<number, number> = {}) => {
      await measureLag(tools, partition => counted[partition] ?? null, seen)
      return shown()
    }
    return { look, shown }
  }
  await publish(3)
  await store(3, 1)
  return { db, nats, server, publish, store, process }
}

const NONE = Array.from({ length: 16 }, () => 0)
const behind = (partition: number, messages: number) => NONE.with(partition, messages)

t.test('a message after a measurement without a lag counts', async t => {
  const { publish, store, process } = await setUp(t)
  const { look } = process()
  t.same(await look(), NONE)
  t.same(await look(), NONE)
  await publish(5)
  t.same(await look(), behind(5, 2), 'no process reads it')
  t.same(await look(), behind(5, 2), 'nor does any later')
  await store(5, 2)
  t.same(await look(), NONE, 'once it is counted and stored')
})

t.test('messages that a process has counted and not stored count as read while it reads', async t => {
  const { publish, process } = await setUp(t)
  const { look } = process()
  await publish(5)
  t.same(await look({ 5: 2 }), NONE)
  t.same(await look({ 5: 2 }), NONE)
  // its reader has ended, and no process has taken the partition
  t.same(await look(), behind(5, 2))
})

t.test('a stream that was created again is behind, however far the previous one was counted', async t => {
  const { nats, publish, store, process } = await setUp(t)
  for (const partition of [5, 6]) await publish(partition)
  await store(5, 2)
  await store(6, 3)
  const { look } = process()
  t.same(await look({ 3: 1, 5: 2, 6: 3 }), NONE)
  await nats.manager.streams.delete(RESULTS_STREAM)
  await ensureStreams(nats.manager)
  for (const partition of [5, 5, 6]) await publish(partition)
  // the readers have not noticed it yet
  await look({ 3: 1, 5: 2, 6: 3 })
  t.same(await look(), NONE.with(5, 2).with(6, 3))
})

t.test('a stream that was emptied is not behind, and its next message counts', async t => {
  const { nats, publish, process } = await setUp(t)
  const { look } = process()
  await publish(5)
  t.same(await look(), behind(5, 2))
  await nats.manager.streams.purge(RESULTS_STREAM)
  t.same(await look(), NONE)
  t.same(await look(), NONE)
  await publish(6)
  t.same(await look(), behind(6, 3))
})

t.test('the lag is unknown during an outage of an engine, and known after it even without a new message', async t => {
  const { db, server, process } = await setUp(t)
  const { look, shown } = process()
  t.same(await look(), NONE)
  await server.stop()
  await t.rejects(look())
  t.same(
    await shown(),
    NONE.map(() => null),
  )
  await server.restart()
  const back = await waitFor(() => look(), { label: 'a look after the restart' })
  t.same(back, NONE)

  const other = process()
  await execute(db, 'ALTER TABLE partitions RENAME TO away')
  await t.rejects(other.look())
  await execute(db, 'ALTER TABLE away RENAME TO partitions')
  t.same(await other.look(), NONE)
})
