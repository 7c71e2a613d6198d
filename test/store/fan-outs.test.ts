import { randomBytes } from 'node:crypto'
import t from 'tap'
import { runFanOutTurn } from '../../control-plane/alerting/routing/publishing/fan-out-actions.ts'
import { startFanOutWorker } from '../../control-plane/alerting/routing/publishing/fan-out-worker.ts'
import { sendDueReminders } from '../../control-plane/alerting/routing/reminders/actions.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { openTransaction } from '../support/open-transaction.ts'
import {
  type Change,
  insertSubscribedChannel,
  listLoggedDeliveries,
  publishOutages,
  publishWithoutFanOut,
  runFanOut,
  subscribe,
} from '../support/publishing.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const now = new Date()
const secretKey = randomBytes(32)
const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000)
const down = (monitorId: string): Change => ({ monitorId, status: 'down' })
const up = (monitorId: string): Change => ({ monitorId, status: 'up' })

async function scene(channels: number) {
  const tenant = await insertTenant(db)
  const { projectId } = tenant
  const [monitorId] = (await insertMonitors(db, projectId, 1)) as [string]
  const where = { projectId, monitorIds: [monitorId], url: 'http://127.0.0.1:9/', secretKey }
  const channelIds = await insertManyChannels(db, { ...where, count: channels })
  const publish = (...changes: Change[]) => publishWithoutFanOut(db, tenant, changes, now)
  return { tenant, projectId, monitorId, channelIds, publish }
}

/** The events of each channel of a project, in order: the number of channels for each list of events. */
async function countReceived(projectId: string): Promise<Record<string, number>> {
  const rows = await query<{ received: string; count: number }>(
    db,
    `SELECT received, count(*) AS count FROM (
       SELECT string_agg(event_name, ' ' ORDER BY seq) AS received FROM deliveries WHERE project_id = ? GROUP BY channel_id
     ) AS channel GROUP BY received`,
    [projectId],
  )
  return Object.fromEntries(rows.map(({ received, count }) => [received, count]))
}

const waiting = () => query(db, 'SELECT seq FROM fan_outs')

t.test(
  'The transaction of an event with 1,200 recipients makes no delivery, and each channel gets it once',
  async t => {
    const { projectId, monitorId, publish } = await scene(1_200)
    await publish(down(monitorId))
    t.same(await countReceived(projectId), {}, 'it is committed, and waits')
    t.equal((await waiting()).length, 1)
    await runFanOutTurn(db, projectId, now)
    t.same(await countReceived(projectId), { 'monitor.down': 500 })
    await runFanOut(db, now)
    t.same(await countReceived(projectId), { 'monitor.down': 1_200 })
    t.same(await waiting(), [])
  },
)

t.test('An event with few recipients is queued in the transaction of its cause', async t => {
  const { projectId, monitorId, publish } = await scene(20)
  await publish(down(monitorId))
  t.same(await countReceived(projectId), { 'monitor.down': 20 })
  t.same(await waiting(), [])
})

t.test('Every channel gets an outage before its end, also when they follow quickly', async t => {
  const { projectId, monitorId, publish } = await scene(1_200)
  await publish(down(monitorId))
  await runFanOutTurn(db, projectId, now)
  await publish(up(monitorId))
  await runFanOutTurn(db, projectId, now)
  await publish(down(monitorId))
  t.same(await countReceived(projectId), { 'monitor.down': 1_000 })
  await runFanOut(db, now)
  t.same(await countReceived(projectId), { 'monitor.down monitor.up monitor.down': 1_200 })
})

t.test('An event with few recipients is delivered after an earlier one that waits', async t => {
  const { projectId, monitorId, channelIds, publish } = await scene(300)
  await publish(down(monitorId))
  await execute(db, 'DELETE FROM alert_rules WHERE alert_channel_id = ANY (?)', [channelIds.slice(0, 290)])
  await publish(up(monitorId))
  t.same(await countReceived(projectId), {})
  await runFanOut(db, now)
  t.same(await countReceived(projectId), { 'monitor.down monitor.up': 10 })
})

t.test('A chat gets a digest of monitors and incidents in a storm, in the fan-out too', async t => {
  const { tenant, projectId } = await scene(0)
  const monitorIds = await insertMonitors(db, projectId, 60)
  const hook = await insertSubscribedChannel(db, tenant, monitorIds, 'webhook')
  const chat = await insertSubscribedChannel(db, tenant, monitorIds, 'chat_a')
  await subscribe(db, tenant, hook)
  await publishOutages(db, tenant, monitorIds.map(down), now)
  await publishOutages(db, tenant, monitorIds.map(up), now)
  const received = await listLoggedDeliveries(db, hook)
  t.equal(received.length, 240)
  for (const id of monitorIds) {
    const ofMonitor = received.filter(({ about }) => about === `monitor:${id}`).map(({ event }) => event)
    t.same(ofMonitor, ['monitor.down', 'monitor.up'])
  }
  t.same(await listLoggedDeliveries(db, chat), [])
  const entries = `SELECT count(*) AS n FROM digest_entries e JOIN digests d ON d.id = e.digest_id WHERE d.channel_id = ?`
  t.same(await query(db, entries, [chat]), [{ n: 120 }])
})

t.test('Two processes that fan out at the same time make no delivery twice', async t => {
  const scenes = await Promise.all([scene(3_000), scene(1_500)])
  const workers = await Promise.all([1, 2].map(() => startProcess(t)))
  await Promise.all(scenes.map(({ publish, monitorId }) => publish(down(monitorId))))
  await Promise.all(scenes.map(({ publish, monitorId }) => publish(up(monitorId))))
  for (const worker of workers) worker.wake()
  await waitFor(async () => (await waiting()).length === 0, { label: 'the end of the fan-out' })
  t.same(await countReceived(scenes[0]!.projectId), { 'monitor.down monitor.up': 3_000 })
  t.same(await countReceived(scenes[1]!.projectId), { 'monitor.down monitor.up': 1_500 })
})

t.test('A locked channel delays neither the transaction of an event nor another project', async t => {
  const [held, other] = await Promise.all([scene(5), scene(200)])
  const holder = await openTransaction(db)
  await query(holder, 'SELECT FROM alert_channels WHERE id = ? FOR UPDATE', [held.channelIds[2]!])
  await held.publish(down(held.monitorId))
  t.same(await countReceived(held.projectId), {}, 'its writer did not wait')
  const worker = await startProcess(t)
  worker.wake()
  await other.publish(down(other.monitorId))
  worker.wake()
  const countDown = async (projectId: string) => (await countReceived(projectId))['monitor.down']
  await waitFor(async () => (await countDown(other.projectId)) === 200, {
    label: 'the other project',
  })
  t.same(await countReceived(held.projectId), {})
  await holder.rollback()
  await waitFor(async () => (await countDown(held.projectId)) === 5, { label: 'the held one' })
})

t.test('A reminder is not sent before all channels have the outage', async t => {
  const { tenant, projectId, monitorId, publish } = await scene(600)
  await execute(db, 'UPDATE alert_rules SET remind_every_minutes = 5 WHERE project_id = ?', [projectId])
  await publishOutages(db, tenant, [down(monitorId)], now)
  const found = 'SELECT id, title, status, severity FROM incidents WHERE cause_monitor_id = ?'
  const [incident] = await query<NonNullable<Change['incident']>>(db, found, [monitorId])
  const outage: Change = { ...down(monitorId), incident: { ...incident!, started_at: now.toISOString() } }
  await publish(outage)
  await runFanOut(db, now)
  t.equal(await sendDueReminders(db, 1_000, later(4)), 0)
  await publish(outage)
  t.equal(await sendDueReminders(db, 1_000, later(6)), 0, 'something of the project waits for the fan-out')
  await runFanOut(db, later(2))
  t.equal(await sendDueReminders(db, 1_000, later(6)), 0, 'the five minutes began again')
  t.equal(await sendDueReminders(db, 1_000, later(8)), 600)
})

t.test('The fan-out makes no deliveries of a project that was deleted', async t => {
  const { projectId, monitorId, publish } = await scene(600)
  await publish(down(monitorId))
  await runFanOutTurn(db, projectId, now)
  await execute(db, 'DELETE FROM projects WHERE id = ?', [projectId])
  t.same(await waiting(), [])
  t.same(await runFanOutTurn(db, projectId, now), { seconds: [] })
})

/** One more process that fans out, with its own connections. */
async function startProcess(t: Teardown) {
  const own = createPostgres(url, 2)
  const worker = startFanOutWorker({ db: own, log: createLog('test', 'silent'), metrics: createMetrics() })
  t.teardown(async () => {
    await worker.stop()
    await own.destroy()
  })
  return worker
}
