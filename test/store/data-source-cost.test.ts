import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { computeNextSlot } from '../../control-plane/integrations/data-sources/fetching/fetch-result.ts'
import { startDataSourceWorker } from '../../control-plane/integrations/data-sources/fetching/worker.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startTarget } from '../support/target.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_S = 3_600

/** Returns the id of a source whose next slot is at least half an hour away, so that only the test makes it due. */
function idWithLateSlot(): string {
  const [id, now] = [uuidv7(), new Date()]
  const waitMs = computeNextSlot({ id, fetchIntervalS: HOUR_S }, now).getTime() - now.getTime()
  return waitMs > 1_800_000 ? id : idWithLateSlot()
}

t.test('A source of 200 monitors needs one fetch, and one transaction only when something changed', async t => {
  const db = createPostgres((await createDatabase(t)).url)
  t.teardown(() => db.destroy())
  const nats = await connectNats((await startNats(t)).url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  const target = await startTarget(t)
  const answerWith = (status: string) => {
    const cells = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`cell-${i}`, { status }]))
    target.behave({ kind: 'answer', body: JSON.stringify(cells) })
  }
  answerWith('ok')
  const id = idWithLateSlot()
  const { projectId } = await insertTenant(db)
  await execute(
    db,
    `INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at,
       created_at, updated_at)
     VALUES (:id, :projectId, 'Cells', :url, 'GET', :interval, 30000, now(), now(), now())`,
    { id, projectId, url: target.url, interval: HOUR_S },
  )
  await execute(
    db,
    `INSERT INTO data_source_fields (id, data_source_id, path, name_template, rule_type, rule_config, display_order,
       created_at, updated_at)
     VALUES (?, ?, '*.status', 'Cell {{key}}', 'equals', '{"value": "ok"}', 0, now(), now())`,
    [uuidv7(), id],
  )

  let transactions = 0
  const worker = startDataSourceWorker({
    ...{ db, nats, secrets: createSecretCipher(Buffer.alloc(32)), publicUrl: 'https://picket.test' },
    ...{ log: createLog('test', 'silent'), metrics: createMetrics(), egress: createEgress({ allow: ['127.0.0.0/8'] }) },
  })
  t.teardown(() => worker.stop())
  const statuses = async () => {
    const rows = await query<{ status: string; count: number }>(
      db,
      'SELECT status, count(*)::integer FROM monitors WHERE data_source_id = ? GROUP BY status',
      [id],
    )
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
  }
  /** Counts fetches and transactions until the end of one more fetch is stored. */
  const costOfNext = async (count: number) => {
    transactions = 0
    db.on('query', noteBegin)
    if (count > 1) await execute(db, 'UPDATE data_sources SET next_fetch_at = now() WHERE id = ?', [id])
    worker.wake()
    await waitFor(() => target.requests.length === count)
    await waitFor(async () => {
      const [row] = await query<{ isOver: boolean }>(
        db,
        'SELECT lease_owner IS NULL AND next_fetch_at > now() AS "isOver" FROM data_sources WHERE id = ?',
        [id],
      )
      return row!.isOver
    })
    db.off('query', noteBegin)
    return { fetches: target.requests.length, transactions }
  }
  const noteBegin = ({ sql }: { sql: string }) => {
    if (/^BEGIN/i.test(sql)) transactions++
  }

  t.same(await costOfNext(1), { fetches: 1, transactions: 1 })
  t.same(await statuses(), { up: 200 })
  t.same(await costOfNext(2), { fetches: 2, transactions: 0 })
  answerWith('broken')
  t.same(await costOfNext(3), { fetches: 3, transactions: 1 })
  t.same(await statuses(), { down: 200 })
})
