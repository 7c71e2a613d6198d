import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listenForNotifications } from '../../control-plane/foundation/platform/postgres/listener.ts'
import { decryptPingToken } from '../../control-plane/monitoring/monitors/settings/encryption.ts'
import { findMonitor } from '../../control-plane/monitoring/monitors/store.ts'
import { assignPingTokens, recordIntakeAlive, storePings } from '../../control-plane/verdict/heartbeats/actions.ts'
import { startIntakeAliveWorker } from '../../control-plane/verdict/heartbeats/worker.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { buildPingArrival } from '../support/heartbeats.ts'
import { countRounds } from '../support/rounds.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 25 s

const { url } = await createDatabase(t)
const db = createPostgres(url, 8)
t.teardown(() => db.destroy())
const { projectId } = await insertTenant(db)
const secrets = createSecretCipher(randomBytes(32))
const log = createLog('test', 'silent')

async function createHeartbeat(): Promise<string> {
  const [id] = (await insertMonitors(db, projectId, 1)) as [string]
  await execute(
    db,
    `UPDATE monitors SET type = 'heartbeat', heartbeat_interval = 3600, heartbeat_grace = 60 WHERE id = ?`,
    [id],
  )
  await assignPingTokens(db, secrets)
  return decryptPingToken((await findMonitor(db, projectId, id))!, secrets)!
}

const beat = (token: string, kind?: 'fail' | 'log') =>
  storePings({ db, publicUrl: 'https://picket.example' }, [buildPingArrival(token, kind)])

async function recordedAt(): Promise<string> {
  const [row] = await query<{ at: string }>(db, 'SELECT CAST(listening_at AS text) AS at FROM heartbeat_intake')
  return row!.at
}

t.test('without a deadline there is no gap in the acceptance of pings, however old the record is', async t => {
  await execute(db, `UPDATE heartbeat_intake SET listening_at = now() - interval '10 minutes'`)
  t.same(await recordIntakeAlive(db), { hasDeadlines: false, outage: null })
  const [row] = await query<{ isNew: boolean }>(
    db,
    `SELECT listening_at > now() - interval '1 minute' AS "isNew" FROM heartbeat_intake`,
  )
  t.ok(row!.isNew)
})

t.test('a record of an idle process that fails is made in the next round', async t => {
  const metrics = createMetrics()
  const worker = startIntakeAliveWorker({ db, log, metrics })
  t.teardown(() => worker.stop())
  const rounds = (outcome: 'ok' | 'failed') => countRounds(metrics, 'heartbeats-listening', outcome)
  await waitFor(async () => (await rounds('ok')) > 0)
  const before = await recordedAt()
  await execute(db, 'ALTER TABLE heartbeat_intake RENAME TO heartbeat_intake_away')
  worker.wake()
  await waitFor(async () => (await rounds('failed')) > 0)
  const ok = await rounds('ok')
  await execute(db, 'ALTER TABLE heartbeat_intake_away RENAME TO heartbeat_intake')
  await waitFor(async () => (await rounds('ok')) > ok)
  t.not(await recordedAt(), before)
})

t.test('an idle process writes no records in most rounds, and in each again after the first ping', async t => {
  const metrics = createMetrics()
  const worker = startIntakeAliveWorker({ db, log, metrics })
  const listener = listenForNotifications(url, ['heartbeats'], () => worker.wake(), log)
  t.teardown(() => Promise.all([worker.stop(), listener.stop()]))
  const rounds = () => countRounds(metrics, 'heartbeats-listening', 'ok')
  const afterRounds = async (count: number) => {
    const until = (await rounds()) + count
    await waitFor(async () => (await rounds()) >= until)
    return recordedAt()
  }
  const startedMs = performance.now()
  const records = new Set([await afterRounds(1)])
  for (let i = 0; i < 10; i++) records.add(await afterRounds(1))
  // one every 10 s, and those at the begin and the end
  const most = 2 + (performance.now() - startedMs) / 10_000
  t.ok(records.size <= most, `${records.size} records in ten rounds, at most ${most.toFixed(1)}`)

  await beat(await createHeartbeat())
  const first = await afterRounds(2)
  const second = await afterRounds(2)
  t.not(second, first)
  t.not(await afterRounds(2), second)
})

t.test('the first deadline of a heartbeat is notified, later ones are not', async t => {
  const token = await createHeartbeat()
  let notified = 0
  const listener = listenForNotifications(
    url,
    ['heartbeats', 'end'],
    channel => {
      if (channel === 'heartbeats') notified++
      else ended++
    },
    log,
  )
  let ended = 0
  t.teardown(() => listener.stop())
  await waitFor(() => ended === 1)
  const countUntilNow = async () => {
    const before = ended
    await query(db, `SELECT pg_notify('end', '')`)
    await waitFor(() => ended > before)
    return notified
  }
  const connected = await countUntilNow()
  await beat(token, 'log')
  t.equal(await countUntilNow(), connected, 'a log sets no deadline')
  await beat(token)
  t.equal(await countUntilNow(), connected + 1)
  await beat(token)
  t.equal(await countUntilNow(), connected + 1)
  await beat(token, 'fail')
  await beat(token)
  t.equal(await countUntilNow(), connected + 2, 'a failure had ended the wait')
})
