import { randomUUID } from 'node:crypto'
import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  computeFairLimit,
  startScreenshotPruneWorker,
} from '../../control-plane/monitoring/screenshots/prune-worker.ts'
import { startScreenshotStore } from '../support/screenshots.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const MIB = 1024 * 1024

t.test('A project that fills the store loses its oldest screenshots, and the others lose none', async t => {
  const context = await startScreenshotStore(t, { replicas: 1, maxBytes: MIB })
  const { db, monitorId, projectId, objects } = context
  const small = await insertTenant(db)
  const owners = [
    ...Array.from({ length: 9 }, (_, i) => ({ projectId, monitorId, id: randomUUID(), age: i })),
    { projectId: small.projectId, monitorId: await insertMonitor(db, small.projectId), id: randomUUID(), age: 100 },
  ]
  for (const { id, age, ...owner } of owners) {
    const key = `${owner.projectId}/${owner.monitorId}/${id}.png`
    await objects.put(key, Buffer.alloc(100_000), 'image/png')
    await execute(
      db,
      `INSERT INTO screenshots (id, project_id, monitor_id, region, taken_in, probe_id, scheduled_at, attempt, kind,
         content_type, size_bytes, store_key, created_at)
       VALUES (:id, :projectId, :monitorId, 'us-east', 'us-east', :id, now(), 1, 'failure', 'image/png', 100000, :key,
         now() - :age * interval '1 hour')`,
      { ...owner, id, age, key },
    )
  }
  const list = (project: string) =>
    query<{ id: string }>(db, 'SELECT id FROM screenshots WHERE project_id = ? ORDER BY created_at DESC', [project])
  // 0.8 MiB are room for eight of them
  const worker = startScreenshotPruneWorker({ projectMaxBytes: 1024 ** 3, ...context })
  t.teardown(() => worker.stop())
  await waitFor(async () => (await list(projectId)).length === 7, { label: 'the oldest to be deleted' })
  await worker.stop()
  t.same(
    await list(projectId),
    owners.slice(0, 7).map(({ id }) => ({ id })),
    'the newest stay',
  )
  t.equal((await list(small.projectId)).length, 1)
  await objects.put('room', Buffer.alloc(100_000), 'image/png')
})

t.test('The limit of a project is the highest with which all fit into the store', async t => {
  const rows: [used: number[], budget: number, limit: number][] = [
    [[], 100, Number.POSITIVE_INFINITY],
    [[40, 60], 100, Number.POSITIVE_INFINITY],
    [[40, 61], 100, 60],
    [[300, 10, 300], 100, 45],
    [[300, 300, 300], 100, 33],
    [[1, 99, 500, 500], 400, 150],
  ]
  for (const [used, budget, limit] of rows) t.equal(computeFairLimit(used, budget), limit, used.join(' '))
})
