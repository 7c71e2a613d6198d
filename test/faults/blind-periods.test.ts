import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { startReminderWorker } from '../../control-plane/alerting/routing/reminders/worker.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createWindow, deleteWindow } from '../../control-plane/verdict/maintenance/actions.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { startSuppressionWorker } from '../../control-plane/verdict/suppression/worker.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { countRounds } from '../support/rounds.ts'
import { insertChannel, insertMonitors, run, startVerdictEngines, startVerdictProcess } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 90 s

t.setTimeout(600_000)
const { url, server, db, nats, projectId, reaches } = await startVerdictEngines(t)
const log = createLog('test', 'silent')

/** The two with maintenance are down unsent; the two without are down and sent, with reminders. One of each recovers unseen. */
const ids = await insertMonitors(db, projectId, 4)
const [recovers, lasts, knownRecovers, knownLasts] = ids as [string, string, string, string]
await insertChannel(db, projectId, ids)
await execute(db, 'UPDATE alert_rules SET remind_every_minutes = 5')

/** "down 1 up": what was sent about a monitor, reminders by their number. */
const sent = async (id: string) => {
  const rows = await query<{ name: string; reminder: number | null }>(
    db,
    `SELECT event_name AS name, reminder FROM deliveries WHERE subject = 'monitor:' || CAST(? AS text) ORDER BY seq`,
    [id],
  )
  return rows.map(({ name, reminder }) => reminder ?? name.replace('monitor.', '')).join(' ')
}
const isSent = (id: string, wanted: string) =>
  waitFor(async () => (await sent(id)) === wanted, { label: wanted, timeoutMs: 240_000 })
const checkAll = async (some: string[], check: string) => {
  for (const id of some) await run(nats, id, check)
}

const window = {
  ...{ title: 'Move', monitor_ids: [recovers, lasts], starts_at: new Date().toISOString() },
  ends_at: new Date(Date.now() + 3_600_000).toISOString(),
}
const { id: windowId } = await createWindow({ db, limits: DEFAULT_LIMITS }, projectId, window, new Date())
const first = await startVerdictProcess(t, url, server.url)
await checkAll(ids, '+')
for (const id of ids) await reaches(id, 'up')
await checkAll(ids, '-')
for (const id of ids) await reaches(id, 'up down')
for (const id of [knownRecovers, knownLasts]) await isSent(id, 'down')

// from here on no status changes, and two targets recover
await first.kill()
const hasLiveLease = 'SELECT FROM partitions WHERE lease_until > clock_timestamp()'
await waitFor(async () => (await query(db, hasLiveLease)).length === 0, { label: 'the leases to end' })
await checkAll([recovers, knownRecovers], '+')
await deleteWindow({ db, review: scheduleReview }, projectId, windowId, new Date())
await execute(db, 'UPDATE reminders SET due_at = now()')

const metrics = createMetrics()
const loops = [startSuppressionWorker({ db, nats, log, metrics }), startReminderWorker({ db, log, metrics })]
t.teardown(() => Promise.all(loops.map(loop => loop.stop())))

t.test('Withheld alerts and reminders are not sent while no process reads results', async t => {
  for (const name of ['silences', 'reminders'])
    await waitFor(async () => (await countRounds(metrics, name, 'ok')) > 0, { label: `a round of ${name}` })
  t.equal(await sent(recovers), '')
  t.equal(await sent(lasts), '')
  t.equal(await sent(knownRecovers), 'down')
  t.equal(await sent(knownLasts), 'down')
})

t.test('With a reader again, only what is still true is sent, after each region had time for a check', async t => {
  await startVerdictProcess(t, url, server.url)
  for (const id of [recovers, knownRecovers]) await reaches(id, 'up down up')
  // without further checks they would lose their status
  const checks = setInterval(() => void checkAll([lasts, knownLasts], '-'), 20_000)
  t.teardown(() => clearInterval(checks))
  await isSent(lasts, 'down')
  await isSent(knownLasts, 'down 1')
  t.equal(await sent(recovers), '')
  t.equal(await sent(knownRecovers), 'down up')
  const early = await query(
    db,
    `SELECT p.complete_since, d.created_at FROM deliveries d JOIN monitors m ON d.subject = 'monitor:' || m.id
     JOIN partitions p ON p.id = m.partition
     WHERE (m.id = :lasts OR (m.id = :knownLasts AND d.reminder = 1)) AND d.created_at < p.complete_since + interval '55 s'`,
    { lasts, knownLasts },
  )
  t.same(early, [])
})
