import { randomBytes } from 'node:crypto'
import t from 'tap'
import { encryptPlainAddresses } from '../../control-plane/alerting/deliveries/rendering/address-encryption-store.ts'
import { decryptAddress } from '../../control-plane/alerting/deliveries/rendering/encrypted-address.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startBatchLoop } from '../../control-plane/foundation/platform/time/batch-loop.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secrets = createSecretCipher(randomBytes(32))

/** Deliveries; every `every`th one has its address in plain text. */
async function insertDeliveries(projectId: string, count: number, every: number) {
  await execute(
    db,
    `WITH channel AS (
       INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
       VALUES (gen_random_uuid(), :projectId, 'Hook', 'webhook', '', false, now(), now()) RETURNING id
     ), event AS (
       INSERT INTO events (id, project_id, name, subject, data, occurred_at)
       VALUES (gen_random_uuid(), :projectId, 'monitor.down', 's', '{}', now()) RETURNING id
     )
     INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, request_url,
       created_at, updated_at)
     SELECT 'whd_' || md5(n::text), :projectId, channel.id, event.id, 'monitor.down', 's', 'delivered',
       CASE WHEN n % :every = 0 THEN 'https://hooks.example.com/' || n END, now(), now()
     FROM channel, event, generate_series(1, :count) n`,
    { projectId, count, every },
  )
}

t.test('Old addresses in the delivery log are encrypted in batches', async t => {
  const { projectId } = await insertTenant(db)
  await insertDeliveries(projectId, 1_700, 17)
  const portions: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    after = await encryptPlainAddresses(db, secrets, after)
    if (after !== null) portions.push(after)
  }
  t.equal(portions.length, 4)
  t.same(await query(db, 'SELECT FROM deliveries WHERE request_url IS NOT NULL'), [])
  const rows = await query<{ id: string; projectId: string; address: Buffer }>(
    db,
    `SELECT id, project_id AS "projectId", request_address AS address FROM deliveries WHERE request_address IS NOT NULL`,
  )
  t.equal(rows.length, 100)
  for (const row of rows) t.match(decryptAddress(row.address, row, secrets), /^https:\/\/hooks\.example\.com\/\d+$/)
})

t.test('A round that ends early is continued, so that the last deliveries are encrypted as well', async t => {
  await execute(db, 'DELETE FROM deliveries')
  const { projectId } = await insertTenant(db)
  await insertDeliveries(projectId, 1_700, 17)
  const seen: (string | null)[] = []
  const tools = { log: createLog('test', 'silent'), metrics: createMetrics() }
  const lateRounds = async () => {
    const { text } = await tools.metrics.render()
    return Number(/picket_loop_rounds_total\{loop="seal",outcome="late"\} (\d+)/.exec(text)?.[1] ?? 0)
  }
  const portion = async (after: string) => {
    const before = await lateRounds()
    await waitFor(async () => (await lateRounds()) > before, { label: 'the time limit of the round' })
    const last = await encryptPlainAddresses(db, secrets, after)
    seen.push(last)
    return last
  }
  const loop = startBatchLoop('seal', 3_600_000, tools, portion, { timeoutMs: 30 })
  t.teardown(loop.stop)
  await waitFor(() => seen.includes(null), { label: 'the last portion' })
  t.same(await query(db, 'SELECT FROM deliveries WHERE request_url IS NOT NULL'), [])
  t.equal(new Set(seen).size, 5)
  t.equal(seen.length, 5, 'no portion was read twice')
})
