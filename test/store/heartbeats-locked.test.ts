import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { decryptPingToken } from '../../control-plane/monitoring/monitors/settings/encryption.ts'
import { findMonitor } from '../../control-plane/monitoring/monitors/store.ts'
import { assignPingTokens, evaluateOverdue, storePings } from '../../control-plane/verdict/heartbeats/actions.ts'
import { createLog } from '../../shared/process/log.ts'
import { createDatabase } from '../support/database.ts'
import { buildPingArrival, runOut } from '../support/heartbeats.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors, readStatuses } from '../support/verdict.ts'

const db = createPostgres((await createDatabase(t)).url, 8)
t.teardown(() => db.destroy())
const { projectId } = await insertTenant(db)
const secrets = createSecretCipher(randomBytes(32))
const tools = { db, publicUrl: 'https://picket.example', log: createLog('test', 'silent') }

/** Heartbeats that are up and overdue. */
async function createOverdue(count: number): Promise<{ id: string; token: string }[]> {
  const ids = await insertMonitors(db, projectId, count)
  await execute(
    db,
    `UPDATE monitors SET type = 'heartbeat', heartbeat_interval = 3600, heartbeat_grace = 60 WHERE id = ANY(?::uuid[])`,
    [ids],
  )
  await assignPingTokens(db, secrets)
  const heartbeats = await Promise.all(
    ids.map(async id => ({ id, token: decryptPingToken((await findMonitor(db, projectId, id))!, secrets)! })),
  )
  for (const { id, token } of heartbeats) {
    t.same(await storePings(tools, [buildPingArrival(token)]), [true])
    await runOut(db, id)
  }
  // pings count as accepted, so that a pause of this machine is not a gap
  await execute(db, `UPDATE heartbeat_intake SET listening_at = clock_timestamp() + interval '1 hour'`)
  return heartbeats
}

t.test('A heartbeat that was locked is overdue only after its queued pings could be stored', async t => {
  const [held, silent] = await createOverdue(2)
  const skipped = new Map<string, number>()
  const lock = await openTransaction(db)
  await query(lock, 'SELECT FROM monitors WHERE id = ANY(?::uuid[]) FOR UPDATE', [[held!.id, silent!.id]])
  t.equal(await evaluateOverdue(tools, 100, skipped), 0)
  await lock.rollback()
  t.equal(await evaluateOverdue(tools, 100, skipped), 0, 'free again, and not evaluated')
  t.same(await storePings(tools, [{ ...buildPingArrival(held!.token), isKept: true }]), [true])
  // long enough after the lock
  for (const id of skipped.keys()) skipped.set(id, Number.NEGATIVE_INFINITY)
  t.equal(await evaluateOverdue(tools, 100, skipped), 1)
  t.same([await readStatuses(db, held!.id), await readStatuses(db, silent!.id)], ['up', 'up down'])
  t.equal(skipped.size, 0)
})

t.test('Another locked row of an overdue heartbeat does not stop the evaluation of others', async t => {
  const [held, free] = await createOverdue(2)
  const lock = await openTransaction(db)
  await query(lock, 'SELECT FROM heartbeats WHERE monitor_id = ? FOR UPDATE', [held!.id])
  await evaluateOverdue(tools, 100)
  t.same([await readStatuses(db, held!.id), await readStatuses(db, free!.id)], ['up', 'up down'])
  await lock.rollback()
  await evaluateOverdue(tools, 100)
  t.equal(await readStatuses(db, held!.id), 'up down')
})
