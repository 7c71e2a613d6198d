import fc from 'fast-check'
import t from 'tap'
import { DELIVERIES_OF_MONITOR } from '../../control-plane/alerting/deliveries/log/about.ts'
import { closeDueDigests } from '../../control-plane/alerting/routing/digests/actions.ts'
import { lockGrouping } from '../../control-plane/alerting/routing/digests/store.ts'
import { startDigestWorker } from '../../control-plane/alerting/routing/digests/worker.ts'
import {
  createPostgres,
  execute,
  isLockTimeout,
  query,
  type Tx,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import {
  type Change,
  insertSubscribedChannel,
  type LoggedDelivery,
  listLoggedDeliveries,
  publishChanges,
  publishWithoutFanOut,
  runFanOut,
} from '../support/publishing.ts'
import { refuseDeliveries } from '../support/refused-deliveries.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const START = Date.parse('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1_000)
const down = (monitorIds: string[]): Change[] => monitorIds.map(monitorId => ({ monitorId, status: 'down' }))
const up = (monitorIds: string[]): Change[] => monitorIds.map(monitorId => ({ monitorId, status: 'up' }))
const size = ({ data }: LoggedDelivery) => data.changes?.length ?? 1
const listEvents = (received: LoggedDelivery[]) => received.map(one => `${one.event} ${size(one)}`)

async function scene(count: number) {
  const tenant = await insertTenant(db)
  const ids = await insertMonitors(db, tenant.projectId, count)
  const chat = await insertSubscribedChannel(db, tenant, ids, 'chat_a')
  const hook = await insertSubscribedChannel(db, tenant, ids, 'webhook')
  return {
    tenant,
    ids,
    chat,
    hook,
    publish: (changes: Change[], now: Date) => publishChanges(db, tenant, changes, now),
  }
}

const deliverAll = () => execute(db, `UPDATE deliveries SET status = 'delivered' WHERE status = 'pending'`)

t.test(
  'For 40 monitors that go down together a chat gets one digest after ten seconds, and a webhook 40 messages immediately',
  async t => {
    const { ids, chat, hook, publish } = await scene(40)
    await publish(down(ids), at(0))
    t.same((await listLoggedDeliveries(db, hook)).length, 40)
    t.same(await listLoggedDeliveries(db, chat), [])
    t.same(await closeDueDigests(db, at(9.9)), at(10), 'it waits for company')
    t.same(await listLoggedDeliveries(db, chat), [])
    t.equal(await closeDueDigests(db, at(10)), null)
    const [digest, ...rest] = await listLoggedDeliveries(db, chat)
    t.same(rest, [])
    t.match(digest, { event: 'monitor.digest', status: 'pending', subject: /^digest:/ })
    t.same(new Set(digest?.data.changes?.map(change => change.url.slice(-36))), new Set(ids))
  },
)

t.test('Changes up to the threshold are sent one by one, the next ones in digests, at most one a minute', async t => {
  const { ids, chat, publish } = await scene(20)
  for (const [i, id] of ids.slice(0, 10).entries()) await publish(down([id]), at(i))
  t.equal((await listLoggedDeliveries(db, chat)).length, 10)
  await deliverAll()
  await publish(down(ids.slice(10, 13)), at(20))
  await publish(down(ids.slice(13, 15)), at(25))
  t.same(await closeDueDigests(db, at(30)), null)
  t.same(listEvents(await listLoggedDeliveries(db, chat)).slice(10), ['monitor.digest 5'])
  await deliverAll()
  await publish(down(ids.slice(15, 16)), at(32))
  t.same(await closeDueDigests(db, at(89)), at(90), 'a minute after the last digest')
  await closeDueDigests(db, at(90))
  t.same(listEvents(await listLoggedDeliveries(db, chat)).slice(10), ['monitor.digest 5', 'monitor.digest 1'])
  await deliverAll()
  await publish(down(ids.slice(16, 17)), at(160))
  t.equal((await listLoggedDeliveries(db, chat)).at(-1)?.event, 'monitor.down', 'the storm is over')
})

t.test('A change follows an unsent change of its subject into the digest, or out of it', async t => {
  const { ids, chat, publish } = await scene(30)
  const [first, ...others] = ids as [string, ...string[]]
  await publish(down([first]), at(0))
  await publish(down(others), at(1))
  await publish(up([first]), at(2))
  t.same(
    listEvents(await listLoggedDeliveries(db, chat)),
    ['monitor.down 1', 'monitor.up 1'],
    'its first message is still to be sent',
  )
  await closeDueDigests(db, at(11))
  await publish(up([others[0]!]), at(200))
  t.equal((await listLoggedDeliveries(db, chat)).length, 3, 'the digest with the outage is still to be sent')
  await deliverAll()
  await publish(up([others[1]!]), at(201))
  t.equal((await listLoggedDeliveries(db, chat)).at(-1)?.event, 'monitor.up', 'the digest has arrived')
  await closeDueDigests(db, at(300))
  t.same(listEvents(await listLoggedDeliveries(db, chat)).slice(2), [
    'monitor.digest 29',
    'monitor.up 1',
    'monitor.digest 1',
  ])
})

t.test('The settings change the threshold of a project or turn digests off', async t => {
  const { ids, chat, tenant, publish } = await scene(30)
  const set = (isDigestEnabled: boolean, digestThreshold: number) =>
    execute(
      db,
      `INSERT INTO alert_settings (project_id, is_digest_enabled, digest_threshold, created_at, updated_at)
       VALUES (:projectId, :isDigestEnabled, :digestThreshold, now(), now()) ON CONFLICT (project_id) DO UPDATE
       SET is_digest_enabled = :isDigestEnabled, digest_threshold = :digestThreshold`,
      { ...tenant, isDigestEnabled, digestThreshold },
    )
  await set(true, 30)
  await publish(down(ids), at(0))
  t.equal((await listLoggedDeliveries(db, chat)).length, 30)
  await deliverAll()
  await set(false, 1)
  await publish(up(ids), at(1))
  t.equal((await listLoggedDeliveries(db, chat)).length, 60)
  await deliverAll()
  await set(true, 1)
  await publish(down(ids), at(2))
  t.equal((await listLoggedDeliveries(db, chat)).length, 60)
})

/** As the worker: what is locked is closed in the next round. */
async function closeAfterLocks(now: Date): Promise<unknown> {
  try {
    return await closeDueDigests(db, now)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return closeAfterLocks(now)
  }
}

t.test(
  'Concurrent transactions count together, and a change during the closing of a digest is in the next one',
  async t => {
    const { ids, chat, publish } = await scene(64)
    const batches = Array.from({ length: 16 }, (_, i) => ids.slice(i * 3, i * 3 + 3))
    await Promise.all(batches.map(batch => publish(down(batch), at(0))))
    const singles = (await listLoggedDeliveries(db, chat)).length
    t.ok(singles <= 10 && singles % 3 === 0, `ten at most, in batches of three: ${singles}`)
    await deliverAll()
    const late = ids.slice(48).map(id => publish(down([id]), at(11)))
    await Promise.all([closeAfterLocks(at(11)), closeAfterLocks(at(11)), ...late])
    await closeDueDigests(db, at(100))
    const digests = (await listLoggedDeliveries(db, chat)).slice(singles)
    t.ok(digests.length === 1 || digests.length === 2, 'two processes send no digest twice')
    const received = digests.flatMap(digest => digest.data.changes!.map(change => change.url.slice(-36)))
    t.equal(received.length, 64 - singles)
    t.equal(new Set(received).size, 64 - singles)
  },
)

t.test('The log finds a digest by its monitors as long as it shows the digest', async t => {
  const { tenant, ids, chat, publish } = await scene(20)
  for (const [i, change] of [down, up, down].entries()) {
    await publish(change(ids), at(i * 7_200))
    await closeDueDigests(db, at(i * 7_200 + 10))
    await deliverAll()
  }
  const digests = (await listLoggedDeliveries(db, chat)).map(({ id }) => id)
  t.equal(digests.length, 3)
  const listFound = async () => {
    const sql = `SELECT found.id FROM (${DELIVERIES_OF_MONITOR}) AS found JOIN deliveries d ON d.id = found.id
      WHERE d.channel_id = :chat ORDER BY d.seq`
    const rows = await query<{ id: string }>(db, sql, { projectId: tenant.projectId, monitorId: ids[0]!, chat })
    return rows.map(({ id }) => id)
  }
  t.same(await listFound(), digests)
  await execute(db, 'DELETE FROM deliveries WHERE id = ?', [digests[0]!])
  t.same(await listFound(), digests.slice(1))
  t.same(await query(db, 'SELECT count(*)::integer AS n FROM digests WHERE channel_id = ?', [chat]), [{ n: 2 }])
})

t.test('The digest of a deleted channel is deleted', async t => {
  const { ids, chat, publish } = await scene(20)
  await publish(down(ids), at(0))
  await execute(db, 'DELETE FROM alert_channels WHERE id = ?', [chat])
  t.equal(await closeDueDigests(db, at(60)), null)
})

const HELD_LOCKS: [title: string, hold: (tx: Tx, projectId: string) => Promise<unknown>][] = [
  ['the grouping', (tx, projectId) => lockGrouping(tx, [projectId])],
  [
    'the channels',
    (tx, projectId) => query(tx, 'SELECT FROM alert_channels WHERE project_id = ? FOR UPDATE', [projectId]),
  ],
]
for (const [title, hold] of HELD_LOCKS) {
  t.test(`A transaction that holds ${title} of a project does not delay the digests of another`, async t => {
    const [held, free] = [await scene(20), await scene(20)]
    await held.publish(down(held.ids), at(0))
    await free.publish(down(free.ids), at(1))
    const holder = await openTransaction(db)
    await hold(holder, held.tenant.projectId)
    const skipped: string[] = []
    const skip = (error: unknown, projectId: string) => void skipped.push(`${isLockTimeout(error)} ${projectId}`)
    t.same(await closeDueDigests(db, at(11), { skip }), at(10), 'it is still due')
    t.same(skipped, [`true ${held.tenant.projectId}`])
    t.same(listEvents(await listLoggedDeliveries(db, free.chat)), ['monitor.digest 20'])
    t.same(await listLoggedDeliveries(db, held.chat), [])
    await holder.rollback()
    t.equal(await closeDueDigests(db, at(11)), null)
    t.same(listEvents(await listLoggedDeliveries(db, held.chat)), ['monitor.digest 20'])
  })
}

t.test('The worker tries a project whose lock was held again, and sends the digests of others meanwhile', async t => {
  const [held, free] = [await scene(20), await scene(20)]
  await held.publish(down(held.ids), at(0))
  await free.publish(down(free.ids), at(1))
  await execute(db, `UPDATE digests SET due_at = due_at - interval '100 years' WHERE closed_at IS NULL`)
  const holder = await openTransaction(db)
  await lockGrouping(holder, [held.tenant.projectId])
  const worker = startDigestWorker({ db, log: createLog('test', 'silent'), metrics: createMetrics() })
  t.teardown(() => worker.stop())
  const hasDigest = async (chat: string) => (await listLoggedDeliveries(db, chat)).length === 1
  await waitFor(() => hasDigest(free.chat), { label: 'the digest of the other project' })
  t.equal(await hasDigest(held.chat), false)
  await holder.rollback()
  await waitFor(() => hasDigest(held.chat), { label: 'the digest of the project that was held' })
})

t.test('A project whose digest cannot be stored delays no other, and sends it when the fault is over', async t => {
  const [broken, free] = [await scene(20), await scene(20)]
  await broken.publish(down(broken.ids), at(0))
  await free.publish(down(free.ids), at(1))
  const acceptAgain = await refuseDeliveries(db, broken.tenant.projectId)
  const skipped: string[] = []
  const skip = (error: unknown, projectId: string) => void skipped.push(`${(error as Error).message} ${projectId}`)
  t.same(await closeDueDigests(db, at(11), { skip }), at(10), 'it is still due')
  t.match(skipped.join(), new RegExp(`refused ${broken.tenant.projectId}$`))
  t.same(listEvents(await listLoggedDeliveries(db, free.chat)), ['monitor.digest 20'])
  t.same(await listLoggedDeliveries(db, broken.chat), [])
  await t.rejects(closeDueDigests(db, at(11)), /refused/, 'without a way to skip, the round fails')
  await acceptAgain()
  t.equal(await closeDueDigests(db, at(11)), null)
  t.same(listEvents(await listLoggedDeliveries(db, broken.chat)), ['monitor.digest 20'])
})

t.test('1,000 changes in one transaction need as many statements as 20, for any number of deliveries', async t => {
  const { tenant, ids, hook } = await scene(1_000)
  let statements = 0
  const count = () => statements++
  db.on('query', count)
  const countStatements = async (changes: Change[], now: Date) => {
    statements = 0
    await publishWithoutFanOut(db, tenant, changes, now)
    return statements
  }
  const few = await countStatements(down(ids.slice(0, 20)), at(0))
  const many = await countStatements(down(ids.slice(20)), at(1))
  db.removeListener('query', count)
  t.ok(few > 5 && few <= 20, `${few} statements are seen`)
  t.ok(many > 5 && many < few, 'where there are many, their deliveries are made afterwards')
  t.equal((await listLoggedDeliveries(db, hook)).length, 20)
  await runFanOut(db, at(2))
  t.equal((await listLoggedDeliveries(db, hook)).length, 1_000)
})

t.test('Every change is sent once to each channel, singly or in a digest, in the order of its monitor', async t => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ publish: fc.uniqueArray(fc.nat(14), { minLength: 1, maxLength: 14 }) }) },
    { weight: 3, arbitrary: fc.record({ waitSeconds: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 3, arbitrary: fc.record({ deliver: fc.nat(30) }) },
  )
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async steps => {
    const { ids, chat, hook, publish } = await scene(15)
    const expected = new Map<string, string[]>(ids.map(id => [id, []]))
    const arrived: LoggedDelivery[] = []
    /** the head of a lane arrives */
    const deliver = async (pick: number) => {
      const heads = await query<LoggedDelivery & { seq: number }>(
        db,
        `SELECT DISTINCT ON (d.subject) d.id, d.subject, d.event_name AS event, e.data FROM deliveries d
           JOIN events e ON e.id = d.event_id WHERE channel_id = ? AND status = 'pending' ORDER BY d.subject, d.seq`,
        [chat],
      )
      const head = heads[pick % Math.max(1, heads.length)]
      if (!head) return false
      await execute(db, `UPDATE deliveries SET status = 'delivered' WHERE id = ?`, [head.id])
      return arrived.push(head)
    }
    let seconds = 0
    for (const one of steps) {
      if ('waitSeconds' in one) {
        seconds += one.waitSeconds
        await closeDueDigests(db, at(seconds))
      } else if ('deliver' in one) {
        await deliver(one.deliver)
      } else {
        const changes = one.publish.map((n): Change => {
          const before = expected.get(ids[n]!)!
          const status = before.at(-1) === 'down' ? 'up' : 'down'
          before.push(status)
          return { monitorId: ids[n]!, status }
        })
        await publish(changes, at(seconds))
      }
    }
    await closeDueDigests(db, at(seconds + 1_000))
    while (await deliver(0));

    const byMonitor = new Map<string, string[]>(ids.map(id => [id, []]))
    for (const { subject, event, data } of arrived) {
      const changes = data.changes ?? [{ url: subject, status: event.replace('monitor.', '') }]
      for (const change of changes) byMonitor.get(change.url.slice(-36))!.push((change as { status: string }).status)
    }
    const total = [...expected.values()].flat().length
    return (
      JSON.stringify([...byMonitor]) === JSON.stringify([...expected]) &&
      (await listLoggedDeliveries(db, hook)).length === total
    )
  })
  await t.resolves(fc.assert(property, { numRuns: 25, endOnFailure: true }))
})

t.test(
  'After the clock was set back, changes that were sent before do not count as sent in the last minute',
  async t => {
    const { ids, chat, publish } = await scene(50)
    const HOUR_S = 3_600
    for (const id of ids.slice(0, 10)) await publish(down([id]), at(HOUR_S))
    await deliverAll()
    t.equal((await listLoggedDeliveries(db, chat)).length, 10, 'sent one by one')
    for (const [minute, first] of [10, 20, 30].entries()) {
      await publish(down(ids.slice(first, first + 11)), at(HOUR_S + 60 * minute))
      await closeDueDigests(db, at(HOUR_S + 60 * (minute + 1)))
      await deliverAll()
    }
    const before = (await listLoggedDeliveries(db, chat)).length
    await publish(down(ids.slice(41, 43)), at(0))
    t.same(listEvents(await listLoggedDeliveries(db, chat)).slice(before), ['monitor.down 1', 'monitor.down 1'])
    await deliverAll()
    // those of a digest that was closed after the step count, although others seem to be newer
    await publish(down([...ids.slice(43), ...ids.slice(0, 5)]), at(1))
    await publish(down(ids.slice(20, 32)), at(50))
    await closeDueDigests(db, at(61))
    const known = (await listLoggedDeliveries(db, chat)).length
    await publish(up(ids.slice(10, 11)), at(61))
    t.equal((await listLoggedDeliveries(db, chat)).length, known, 'it waits in a digest')
  },
)
