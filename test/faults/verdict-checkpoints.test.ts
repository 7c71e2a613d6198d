import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { copyDatabase } from '../support/restored-database.ts'
import {
  createNextResult,
  insertMonitor,
  publish,
  readStatuses,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url, server, db, nats, projectId, reaches } = await startVerdictEngines(t)

const lastSequence = async () => (await nats.manager.streams.info('RESULTS')).state.last_seq

const checkpointed = async () =>
  (await query<{ position: number | null }>(db, 'SELECT max(position) AS position FROM partition_checkpoints'))[0]!
    .position

for (const how of ['stop', 'kill'] as const) {
  t.test(`After a ${how} the next process reads nothing again and restores what only memory had`, async t => {
    const id = await insertMonitor(db, projectId)
    const before = await startVerdictProcess(t, url, server.url)
    await publish(nats, [createNextResult(id, { up: true, epoch: 1 })])
    await reaches(id, 'up')
    // a steady region: nothing of this is stored with its state
    const steady = Array.from({ length: 200 }, () => createNextResult(id, { up: true, epoch: 2 }))
    for (const result of steady) await publish(nats, [result])
    if (how === 'kill') {
      const last = await lastSequence()
      await waitFor(async () => (await checkpointed()) === last, { label: 'a checkpoint' })
    } else {
      await waitFor(async () => (await before.metric('picket_verdict_results_total{kind="counted"}')) >= 201, {
        label: 'all counted',
      })
    }
    await before[how]()

    const after = await startVerdictProcess(t, url, server.url)
    await publish(nats, [createNextResult(id, { up: false, epoch: 1 })])
    await publish(nats, [{ ...steady.at(-1)!, outcome: createNextResult(id, { up: false }).outcome }])
    await waitFor(async () => (await after.metric('picket_verdict_results_total{kind="history"}')) === 2, {
      label: 'an older epoch and a slot that was counted are history',
    })
    t.equal(await readStatuses(db, id), 'up')
    const recalled = await after.metric('picket_verdict_recalled_total')
    t.ok(recalled <= 10, `${recalled} results were read again: those of the checkpoint's millisecond`)
    await publish(nats, [createNextResult(id, { up: false, epoch: 2 })])
    await reaches(id, 'up down')
    await after.stop()
  })
}

t.test('A checkpoint that cannot be read is ignored, and two minutes are read again', async t => {
  const id = await insertMonitor(db, projectId)
  const before = await startVerdictProcess(t, url, server.url)
  for (let i = 0; i < 50; i++) await publish(nats, [createNextResult(id, { up: true, epoch: 2 })])
  await reaches(id, 'up')
  await before.stop()
  await execute(db, `UPDATE partition_checkpoints SET data = '\\x0909'`)
  const after = await startVerdictProcess(t, url, server.url)
  await publish(nats, [createNextResult(id, { up: false, epoch: 1 })])
  await publish(nats, [createNextResult(id, { up: false, epoch: 2 })])
  await reaches(id, 'up down')
  t.ok((await after.metric('picket_verdict_recalled_total')) >= 50)
  t.equal(await after.metric('picket_verdict_partition_restarts_total'), 0)
  await after.stop()
})

t.test(
  'A checkpoint that is newer than the stored position is not used, and lost decisions are made again',
  async t => {
    const id = await insertMonitor(db, projectId, { retryCount: 1 })
    const first = await startVerdictProcess(t, url, server.url)
    await publish(nats, [createNextResult(id, { up: true })])
    await reaches(id, 'up')
    await first.stop()
    const copy = await copyDatabase(t, url, 'copy')

    const second = await startVerdictProcess(t, url, server.url)
    await publish(nats, [createNextResult(id, { up: false }), createNextResult(id, { up: false })])
    await reaches(id, 'up down')
    await second.stop()
    const newer = await query<{ row: object }>(db, 'SELECT to_jsonb(c) AS row FROM partition_checkpoints c')
    const [{ lost }] = (await query<{ lost: string }>(
      db,
      'SELECT id AS lost FROM incidents WHERE cause_monitor_id = ?',
      [id],
    )) as [{ lost: string }]

    await copy.restore()
    t.equal(await readStatuses(db, id), 'up')
    await execute(db, 'DELETE FROM partition_checkpoints')
    await execute(
      db,
      'INSERT INTO partition_checkpoints SELECT * FROM jsonb_populate_recordset(NULL::partition_checkpoints, ?::jsonb)',
      [JSON.stringify(newer.map(({ row }) => row))],
    )
    const [ahead] = await query<{ n: number }>(
      db,
      'SELECT count(*) AS n FROM partition_checkpoints c JOIN partitions p ON p.id = c.partition WHERE c.position > p.position',
    )
    t.ok(ahead!.n > 0)
    const third = await startVerdictProcess(t, url, server.url)
    await reaches(id, 'up down')
    const incidents = await query<{ id: string }>(db, 'SELECT id FROM incidents WHERE cause_monitor_id = ?', [id])
    t.equal(incidents.length, 1)
    t.not(incidents[0]?.id, lost, 'the incident was lost with the rest, so this is another one')
    await publish(nats, [createNextResult(id, { up: true })])
    await publish(nats, [createNextResult(id, { up: true })])
    await reaches(id, 'up down up')
    await third.stop()
  },
)

t.test('A process that runs while PostgreSQL is restored makes lost decisions again', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 1 })
  const process = await startVerdictProcess(t, url, server.url)
  await publish(nats, [createNextResult(id, { up: true })])
  await reaches(id, 'up')
  const copy = await copyDatabase(t, url, 'copy_again')
  await publish(nats, [createNextResult(id, { up: false }), createNextResult(id, { up: false })])
  await reaches(id, 'up down')
  await copy.restore()
  t.equal(await readStatuses(db, id), 'up')
  // the next result of the partition shows that the position is another one
  await publish(nats, [createNextResult(id, { up: false })])
  await reaches(id, 'up down')
  await process.stop()
})
