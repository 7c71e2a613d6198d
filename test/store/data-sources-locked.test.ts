import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startDataSourceWorker } from '../../control-plane/integrations/data-sources/fetching/worker.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { openTransaction } from '../support/open-transaction.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

/** As many as the role `schedule` has (control-plane/operations/roles/pools.ts). */
const POOL_SIZE = 4

type Asked = { path: string; answer(cells: object): void }

/** Target whose answers the test gives, and a worker with a pool of the size of its role. */
async function startScene(t: Teardown) {
  const waiting: Asked[] = []
  const server = createServer((request, response) => {
    waiting.push({ path: request.url!, answer: cells => response.end(JSON.stringify({ cells })) })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const nats = await connectNats((await startNats(t)).url, 'test')
  await ensureStreams(nats.manager)
  const pool = createPostgres(url, POOL_SIZE)
  const worker = startDataSourceWorker({
    ...{ db: pool, nats, publicUrl: 'https://picket.test', secrets: createSecretCipher(Buffer.alloc(32)) },
    ...{ log: createLog('test', 'silent'), metrics: createMetrics() },
    egress: createEgress({ allow: ['127.0.0.0/8'] }),
  })
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await worker.stop()
    await Promise.all([pool.destroy(), nats.close()])
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    pool,
    /** A source of a project of its own, due now. */
    async addSource(path: string) {
      const { projectId } = await insertTenant(db)
      const id = uuidv7()
      await execute(
        db,
        `WITH source AS (
           INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at,
             created_at, updated_at)
           VALUES (:id, :projectId, 'Cells', :url, 'GET', 60, 60000, now(), now(), now()) RETURNING id)
         INSERT INTO data_source_fields (id, data_source_id, path, name_template, rule_type, rule_config, display_order,
           created_at, updated_at)
         SELECT :fieldId, id, 'cells.*', 'Cell {{key}}', 'truthy', '{}', 0, now(), now() FROM source`,
        { id, projectId, fieldId: uuidv7(), url: `${origin}${path}` },
      )
      worker.wake()
      return id
    },
    async makeDue(id: string) {
      await execute(db, 'UPDATE data_sources SET next_fetch_at = now() WHERE id = ?', [id])
      worker.wake()
    },
    /** The next request of a source. */
    async next(path: string): Promise<Asked> {
      await waitFor(() => waiting.some(asked => asked.path === path), { label: `a request of ${path}` })
      const [asked] = waiting.splice(
        waiting.findIndex(one => one.path === path),
        1,
      )
      return asked!
    },
  }
}

const findSource = async (id: string) =>
  (
    await query<{ isLeased: boolean; isFetched: boolean; children: number }>(
      db,
      `SELECT lease_owner IS NOT NULL AS "isLeased", last_success_at IS NOT NULL AS "isFetched",
         (SELECT count(*)::integer FROM data_source_children c WHERE c.data_source_id = s.id) AS children
       FROM data_sources s WHERE id = ?`,
      [id],
    )
  )[0]!

/** What an import of the project does with sources that it changes. */
async function lockSources(ids: string[]) {
  const tx = await openTransaction(db)
  await query(tx, 'SELECT FROM data_sources WHERE id = ANY (?::uuid[]) ORDER BY id FOR UPDATE', [ids])
  return { end: () => tx.rollback() }
}

t.test('A source that an import has locked does not delay the sources of other projects', async t => {
  const scene = await startScene(t)
  const locked = await scene.addSource('/locked')
  const other = await scene.addSource('/other')
  ;(await scene.next('/locked')).answer({ a: 1 })
  ;(await scene.next('/other')).answer({ a: 1 })
  await waitFor(async () => (await findSource(locked)).isFetched, { label: 'the first fetch' })
  await waitFor(async () => (await findSource(other)).isFetched, { label: 'the other fetch' })

  await scene.makeDue(locked)
  const asked = await scene.next('/locked')
  const lock = await lockSources([locked])
  asked.answer({ a: 1 })
  for (let i = 0; i < 3; i++) {
    await scene.makeDue(other)
    ;(await scene.next('/other')).answer({ a: 1 })
    await waitFor(async () => !(await findSource(other)).isLeased, { label: 'the end of the other fetch' })
  }
  t.ok((await findSource(locked)).isLeased, 'the end of its fetch waits')
  await lock.end()
  await waitFor(async () => !(await findSource(locked)).isLeased, { label: 'the end of the fetch' })
})

t.test('Results of locked sources leave connections for the other loops, and are fetched again', async t => {
  const scene = await startScene(t)
  const paths = ['/1', '/2', '/3', '/4']
  const ids: string[] = []
  for (const path of paths) ids.push(await scene.addSource(path))
  const asked = await Promise.all(paths.map(scene.next))
  const lock = await lockSources(ids)
  for (const one of asked) one.answer({ a: 1 })
  const free = await openTransaction(scene.pool)
  await free.rollback()
  t.same(
    (await Promise.all(ids.map(findSource))).map(({ children }) => children),
    [0, 0, 0, 0],
  )
  await lock.end()
  for (const path of paths) (await scene.next(path)).answer({ a: 1 })
  await waitFor(async () => (await Promise.all(ids.map(findSource))).every(({ children }) => children === 1), {
    label: 'the monitors of all sources',
  })
})
