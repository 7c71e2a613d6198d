import t from 'tap'
import { ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { computePartition, RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import {
  createNextResult,
  insertChannel,
  insertMonitor,
  insertMonitors,
  publish,
  readStatuses,
  run,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const { url, server, db, nats, projectId, reaches } = await startVerdictEngines(t)

const countRows = async (table: string, where: string, values: string[]) =>
  (await query<{ n: number }>(db, `SELECT count(*) AS n FROM ${table} WHERE ${where}`, values))[0]!.n

const INCIDENTS = 'SELECT id FROM incidents WHERE cause_monitor_id = ?'

/** Everything that the verdict has stored for a monitor, to compare before and after. */
const readWrittenRows = async (id: string) => [
  await query(db, 'SELECT * FROM transitions WHERE monitor_id = ? ORDER BY id', [id]),
  await query(db, 'SELECT * FROM incidents WHERE cause_monitor_id = ? ORDER BY id', [id]),
  await query(db, `SELECT * FROM incident_updates WHERE incident_id IN (${INCIDENTS}) ORDER BY id`, [id]),
  await query(db, 'SELECT * FROM events WHERE subject = ? ORDER BY id', [`monitor:${id}`]),
  await query(
    db,
    `SELECT * FROM events WHERE subject IN (SELECT 'incident:' || id FROM (${INCIDENTS}) i) ORDER BY id`,
    [id],
  ),
  await query(db, 'SELECT * FROM deliveries WHERE subject = ? ORDER BY seq', [`monitor:${id}`]),
]

const readCells = async (id: string) => {
  const [row] = await query<{ cells: { failures: number; better: number }[] }>(
    db,
    `SELECT state->'cells' AS cells FROM verdict_states WHERE monitor_id = ?`,
    [id],
  )
  return row?.cells ?? []
}

type VerdictProcess = Awaited<ReturnType<typeof startVerdictProcess>>

/** Waits until a process has counted this number of results since its start. */
const counts = (process: VerdictProcess, results: number) =>
  waitFor(async () => (await process.metric('picket_verdict_results_total{kind="counted"')) >= results, {
    label: `${results} results counted`,
  })

/** Waits until the newest result of a monitor's partition is counted and stored. */
const isCaughtUp = async (id: string) => {
  const subject = resultSubject(computePartition(id), 'us-east')
  const newest = await nats.manager.streams.getMessage(RESULTS_STREAM, { last_by_subj: subject })
  return (await countRows('partitions', 'id = ? AND position >= ?', [computePartition(id), newest!.seq] as never)) === 1
}

t.test('A restart during a failing streak continues the streak', async t => {
  const patient = await insertMonitor(db, projectId, { retryCount: 5 })
  const hasty = await insertMonitor(db, projectId, { retryCount: 0 })
  const first = await startVerdictProcess(t, url, server.url)
  await run(nats, patient, '+---')
  await run(nats, hasty, '+')
  await counts(first, 5)
  await reaches(hasty, 'up')
  await first.stop()
  await run(nats, patient, '--')
  await run(nats, hasty, '-')

  const second = await startVerdictProcess(t, url, server.url)
  await counts(second, 3)
  await reaches(hasty, 'up down')
  t.equal(await readStatuses(db, patient), 'up', 'five failures are not six')
  await second.stop()
  await run(nats, patient, '-')
  await startVerdictProcess(t, url, server.url).then(async third => {
    await reaches(patient, 'up down')
    t.equal(await readStatuses(db, hasty), 'up down')
    await third.stop()
  })
})

t.test('After a kill another process decides within ten seconds, each decision once', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 2 })
  await insertChannel(db, projectId, [id])
  const killed = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '+--')
  await counts(killed, 3)
  await killed.kill()
  // before the next one begins, which may have taken them immediately on a slow machine
  const [{ owned }] = (await query<{ owned: string }>(
    db,
    'SELECT json_object_agg(id, epoch)::text AS owned FROM partitions',
  )) as [{ owned: string }]
  const [lease] = await query<{ seconds: number }>(
    db,
    'SELECT CAST(extract(epoch FROM max(lease_until) - max(updated_at)) AS float8) AS seconds FROM partitions',
  )
  const next = await startVerdictProcess(t, url, server.url)
  const rounds = () => next.metric('picket_loop_rounds_total{loop="verdict-ownership"')
  const isFree =
    'NOT EXISTS (SELECT FROM partitions WHERE lease_until > clock_timestamp() AND epoch = (?::json->>id::text)::bigint)'
  await waitFor(async () => (await query(db, `SELECT WHERE ${isFree}`, [owned])).length > 0, { label: 'free leases' })
  const before = await rounds()
  await waitFor(async () => (await next.metric('picket_verdict_partitions_owned')) === 16, { label: '16 partitions' })
  const more = (await rounds()) - before
  const seconds = lease!.seconds + more * 1.5
  t.ok(seconds <= 10, `a lease of ${lease!.seconds.toFixed(1)} s and ${more} rounds of 1.5 s`)
  await run(nats, id, '-')
  await reaches(id, 'up down')
  t.equal(await countRows('incidents', 'cause_monitor_id = ?', [id]), 1)
  t.equal(await countRows('deliveries', 'subject = ?', [`monitor:${id}`]), 1)
})

t.test('The older of two owners of a partition cannot store anything', async t => {
  const id = await insertMonitor(db, projectId)
  const old = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '+')
  await reaches(id, 'up')
  const takenMs = performance.now()
  // another process takes the partition for four seconds, while the old owner still reads it
  const taken = await execute(
    db,
    `UPDATE partitions SET owner = 'other', epoch = epoch + 1, lease_until = clock_timestamp() + interval '4 s'
     WHERE id = ?`,
    [computePartition(id)],
  )
  t.equal(taken, 1)
  await run(nats, id, '--')
  await reaches(id, 'up down')
  const seconds = (performance.now() - takenMs) / 1_000
  t.ok(seconds > 4, `decided after ${seconds.toFixed(1)} s, when the other owner's lease had run out`)
  t.equal(await countRows('incidents', 'cause_monitor_id = ?', [id]), 1)
  await old.stop()
})

t.test('A process that disappears during a decision delays it for some seconds only', async t => {
  const id = await insertMonitor(db, projectId)
  const relay = await startTcpRelay(t, url)
  const vanishing = await startVerdictProcess(t, relay.url, server.url)
  await run(nats, id, '+')
  await reaches(id, 'up')
  // its transaction waits half a second for the monitor's state, and has locked the partition's row
  const blocker = await openTransaction(db)
  await query(blocker, 'SELECT FROM verdict_states WHERE monitor_id = ? FOR UPDATE', [id])
  await run(nats, id, '-')
  const lockWaits = 'datname = current_database() AND wait_event_type = ?'
  await waitFor(async () => (await countRows('pg_stat_activity', lockWaits, ['Lock'])) > 0, { label: 'a lock' })
  relay.hold()
  await blocker.rollback()
  const heldMs = performance.now()
  const next = await startVerdictProcess(t, url, server.url)
  await waitFor(async () => (await readStatuses(db, id)) === 'up down', { label: 'the other one' })
  t.comment(`decided after ${((performance.now() - heldMs) / 1_000).toFixed(1)} s`)
  await relay.restore()
  await vanishing.stop()
  await next.stop()
  t.equal(await countRows('incidents', 'cause_monitor_id = ?', [id]), 1)
})

t.test('Processes that start and stop share the partitions evenly and decide everything once', async t => {
  const ids = await insertMonitors(db, projectId, 64)
  const owned = async () =>
    (
      await query<{ n: number }>(
        db,
        'SELECT count(*) AS n FROM partitions WHERE owner IS NOT NULL GROUP BY owner ORDER BY 1',
      )
    )
      .map(({ n }) => n)
      .join(' ')
  const settles = (split: string) => waitFor(async () => (await owned()) === split, { label: split })
  const fire = (up: boolean) =>
    publish(
      nats,
      ids.map(id => createNextResult(id, { up })),
    )
  const first = await startVerdictProcess(t, url, server.url)
  await fire(true)
  await settles('16')
  const second = await startVerdictProcess(t, url, server.url)
  await fire(false)
  await settles('8 8')
  const third = await startVerdictProcess(t, url, server.url)
  await fire(true)
  await settles('5 5 6')
  await first.stop()
  await fire(false)
  await settles('8 8')
  await third.stop()
  await fire(true)
  await waitFor(async () => (await countRows('transitions', 'monitor_id = ANY(?)', [ids] as never)) === 64 * 5)
  await second.stop()
  for (const id of ids) t.equal(await readStatuses(db, id), 'up down up down up')
})

t.test('Reading all results again changes nothing', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 1 })
  await insertChannel(db, projectId, [id])
  const before = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '+--++++--++-')
  await reaches(id, 'up down up down up')
  await counts(before, 12)
  await before.stop()
  const written = await readWrittenRows(id)
  await execute(db, 'UPDATE partitions SET position = 0, position_taken_at = NULL')

  const after = await startVerdictProcess(t, url, server.url)
  const { state } = await nats.manager.streams.info(RESULTS_STREAM)
  t.ok(state.messages > 12)
  await run(nats, id, '+')
  await waitFor(() => isCaughtUp(id), { label: 'all of it read' })
  t.same(await readWrittenRows(id), written)
  await after.stop()
})

t.test('A stream that was created again is read from its beginning', async t => {
  const id = await insertMonitor(db, projectId)
  const process = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '++++')
  await reaches(id, 'up')
  await nats.manager.streams.delete(RESULTS_STREAM)
  await ensureStreams(nats.manager)
  await run(nats, id, '-')
  await reaches(id, 'up down')
  await process.stop()
  await nats.manager.streams.delete(RESULTS_STREAM)
  await ensureStreams(nats.manager)
  await run(nats, id, '+')
  const next = await startVerdictProcess(t, url, server.url)
  await reaches(id, 'up down up')
  t.equal(await countRows('incidents', 'cause_monitor_id = ?', [id]), 1)
  await next.stop()
})

t.test('Verdicts wait while PostgreSQL is unavailable, and catch up in order', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 1 })
  const process = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '+-')
  await counts(process, 2)
  const name = new URL(url).pathname.slice(1)
  const postgres = createPostgres(new URL('/postgres', url).href)
  t.teardown(() => postgres.destroy())
  const switchTo = (allowed: boolean) => execute(postgres, `ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`)
  await switchTo(false)
  await execute(postgres, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ?', [name])
  await run(nats, id, '-')
  await run(nats, id, '++')
  await run(nats, id, '--')
  await waitFor(async () => (await process.metric('picket_verdict_partition_restarts_total')) > 2)
  await switchTo(true)
  await reaches(id, 'up down up down')
  t.equal(await countRows('incidents', 'cause_monitor_id = ?', [id]), 2)
  await process.stop()
})

t.test('An outage of NATS loses nothing', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 1 })
  const process = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '+-')
  await counts(process, 2)
  await server.kill9()
  await server.restart()
  await waitFor(() => run(nats, id, '-').then(() => true), { label: 'NATS' })
  await reaches(id, 'up down')
  t.match(await readCells(id), [{ failures: 2 }])
  await process.stop()
})

t.test('A link to NATS that hung delays no verdict after it works again', async t => {
  const id = await insertMonitor(db, projectId)
  const relay = await startTcpRelay(t, server.url)
  const process = await startVerdictProcess(t, url, relay.url)
  await run(nats, id, '+')
  await reaches(id, 'up')
  relay.swallow()
  await run(nats, id, '-')
  await waitFor(() => relay.swallowed().includes('CONSUMER.INFO'), {
    label: 'a client library that misses the heartbeats of its consumers',
  })
  // of two requests with the same timeout, the second begins later: when it fails, that of the library has timed out as well
  const failedRounds = () => process.metric('picket_loop_rounds_total{loop="verdict-stream",outcome="failed"')
  const before = await failedRounds()
  await waitFor(async () => (await failedRounds()) >= before + 2, { label: 'a later request that failed' })
  await relay.restore()
  await waitFor(async () => (await readStatuses(db, id)) === 'up down', { label: 'the verdict' })
  await process.stop()
})

t.test('A monitor with an invalid stored state delays no other monitor', async t => {
  const made = await insertMonitors(db, projectId, 200, { regions: ['us-east', 'eu-west', 'us-west'] })
  const [poisoned, ...others] = made.filter(id => computePartition(id) === computePartition(made[0]!))
  const ids = [poisoned!, ...others]
  const everywhere = async (up: boolean) => {
    for (const region of ['us-east', 'eu-west', 'us-west']) {
      await publish(
        nats,
        ids.map(id => createNextResult(id, { up })),
        region,
      )
    }
  }
  const first = await startVerdictProcess(t, url, server.url)
  await everywhere(true)
  for (const id of ids) await reaches(id, 'up')
  await first.stop()
  // the state of a region without new results
  await execute(
    db,
    `UPDATE verdict_states SET state = jsonb_set(state, '{cells}', (
       SELECT jsonb_agg(CASE WHEN cell->>'region' = 'us-west' THEN cell - 'fence' ELSE cell END)
       FROM jsonb_array_elements(state->'cells') cell)) WHERE monitor_id = ?`,
    [poisoned!],
  )
  const second = await startVerdictProcess(t, url, server.url)
  const parts = new Set(ids.map(computePartition))
  t.ok(
    others.some(id => computePartition(id) === computePartition(poisoned!)),
    `a neighbour in one of ${parts.size} partitions`,
  )
  for (const region of ['us-east', 'eu-west']) {
    await publish(
      nats,
      ids.map(id => createNextResult(id, { up: false })),
      region,
    )
  }
  await waitFor(async () => (await second.metric('picket_verdict_set_aside_total{what="decision"}')) > 0, {
    label: 'a decision that is set aside',
  })
  const down = async () =>
    (await query(db, `SELECT FROM monitors WHERE id = ANY(?) AND status = 'down'`, [others] as never)).length
  await waitFor(async () => (await down()) === others.length, { label: 'the neighbours' })
  t.equal(await second.metric('picket_verdict_partition_restarts_total'), 0)
  await second.stop()
})
