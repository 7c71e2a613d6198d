import fc from 'fast-check'
import t from 'tap'
import { closeDueDigests } from '../../control-plane/alerting/routing/digests/actions.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import {
  type Change,
  insertSubscribedChannel,
  type LoggedDelivery,
  listLoggedDeliveries,
  publishChanges,
  publishWithoutFanOut,
  runFanOut,
} from '../support/publishing.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const START = Date.parse('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1_000)
const down = (monitorIds: string[]): Change[] => monitorIds.map(monitorId => ({ monitorId, status: 'down' }))
const up = (monitorIds: string[]): Change[] => monitorIds.map(monitorId => ({ monitorId, status: 'up' }))
const size = ({ data }: LoggedDelivery) => data.changes?.length ?? 1
const eventsOf = (told: LoggedDelivery[]) => told.map(one => `${one.event} ${size(one)}`)

async function scene(count: number) {
  const tenant = await insertTenant(db)
  const ids = await insertMonitors(db, tenant.projectId, count)
  const chat = await insertSubscribedChannel(db, tenant, ids, 'chat_a')
  const hook = await insertSubscribedChannel(db, tenant, ids, 'webhook')
  return { tenant, ids, chat, hook, tell: (changes: Change[], now: Date) => publishChanges(db, tenant, changes, now) }
}

const deliverAll = () => execute(db, `UPDATE deliveries SET status = 'delivered' WHERE status = 'pending'`)

t.test('40 monitors down at once: a chat gets one digest after ten seconds, a webhook 40 messages at once', async t => {
  const { ids, chat, hook, tell } = await scene(40)
  await tell(down(ids), at(0))
  t.same((await listLoggedDeliveries(db, hook)).length, 40)
  t.same(await listLoggedDeliveries(db, chat), [])
  t.same(await closeDueDigests(db, at(9.9)), at(10), 'it waits for company')
  t.same(await listLoggedDeliveries(db, chat), [])
  t.equal(await closeDueDigests(db, at(10)), null)
  const [digest, ...rest] = await listLoggedDeliveries(db, chat)
  t.same(rest, [])
  t.match(digest, { event: 'monitor.digest', status: 'pending', subject: /^digest:/ })
  t.same(new Set(digest?.data.changes?.map(change => change.url.slice(-36))), new Set(ids))
})

t.test('as many as the threshold are told one by one, the next ones in digests, one a minute at most', async t => {
  const { ids, chat, tell } = await scene(20)
  for (const [i, id] of ids.slice(0, 10).entries()) await tell(down([id]), at(i))
  t.equal((await listLoggedDeliveries(db, chat)).length, 10)
  await deliverAll()
  await tell(down(ids.slice(10, 13)), at(20))
  await tell(down(ids.slice(13, 15)), at(25))
  t.same(await closeDueDigests(db, at(30)), null)
  t.same(eventsOf(await listLoggedDeliveries(db, chat)).slice(10), ['monitor.digest 5'])
  await deliverAll()
  await tell(down(ids.slice(15, 16)), at(32))
  t.same(await closeDueDigests(db, at(89)), at(90), 'a minute after the last digest')
  await closeDueDigests(db, at(90))
  t.same(eventsOf(await listLoggedDeliveries(db, chat)).slice(10), ['monitor.digest 5', 'monitor.digest 1'])
  await deliverAll()
  await tell(down(ids.slice(16, 17)), at(160))
  t.equal((await listLoggedDeliveries(db, chat)).at(-1)?.event, 'monitor.down', 'the storm is over')
})

t.test('what follows a change in a digest that is still to be sent joins the digests, and the reverse', async t => {
  const { ids, chat, tell } = await scene(30)
  const [first, ...others] = ids as [string, ...string[]]
  await tell(down([first]), at(0))
  await tell(down(others), at(1))
  await tell(up([first]), at(2))
  t.same(
    eventsOf(await listLoggedDeliveries(db, chat)),
    ['monitor.down 1', 'monitor.up 1'],
    'its first message is still to be sent',
  )
  await closeDueDigests(db, at(11))
  await tell(up([others[0]!]), at(200))
  t.equal((await listLoggedDeliveries(db, chat)).length, 3, 'the digest that tells the outage is still to be sent')
  await deliverAll()
  await tell(up([others[1]!]), at(201))
  t.equal((await listLoggedDeliveries(db, chat)).at(-1)?.event, 'monitor.up', 'the digest has arrived')
  await closeDueDigests(db, at(300))
  t.same(eventsOf(await listLoggedDeliveries(db, chat)).slice(2), [
    'monitor.digest 29',
    'monitor.up 1',
    'monitor.digest 1',
  ])
})

t.test('settings move the threshold of a project or leave digests out', async t => {
  const { ids, chat, tenant, tell } = await scene(30)
  const set = (isDigestEnabled: boolean, digestThreshold: number) =>
    execute(
      db,
      `INSERT INTO alert_settings (project_id, is_digest_enabled, digest_threshold, created_at, updated_at)
       VALUES (:projectId, :isDigestEnabled, :digestThreshold, now(), now()) ON CONFLICT (project_id) DO UPDATE
       SET is_digest_enabled = :isDigestEnabled, digest_threshold = :digestThreshold`,
      { ...tenant, isDigestEnabled, digestThreshold },
    )
  await set(true, 30)
  await tell(down(ids), at(0))
  t.equal((await listLoggedDeliveries(db, chat)).length, 30)
  await deliverAll()
  await set(false, 1)
  await tell(up(ids), at(1))
  t.equal((await listLoggedDeliveries(db, chat)).length, 60)
  await deliverAll()
  await set(true, 1)
  await tell(down(ids), at(2))
  t.equal((await listLoggedDeliveries(db, chat)).length, 60)
})

t.test('transactions side by side count together, and what is added while a digest is sent is in the next', async t => {
  const { ids, chat, tell } = await scene(64)
  const batches = Array.from({ length: 16 }, (_, i) => ids.slice(i * 3, i * 3 + 3))
  await Promise.all(batches.map(batch => tell(down(batch), at(0))))
  const singles = (await listLoggedDeliveries(db, chat)).length
  t.ok(singles <= 10 && singles % 3 === 0, `ten at most, in batches of three: ${singles}`)
  await deliverAll()
  const late = ids.slice(48).map(id => tell(down([id]), at(11)))
  await Promise.all([closeDueDigests(db, at(11)), closeDueDigests(db, at(11)), ...late])
  await closeDueDigests(db, at(100))
  const digests = (await listLoggedDeliveries(db, chat)).slice(singles)
  t.ok(digests.length === 1 || digests.length === 2, 'two processes send no digest twice')
  const told = digests.flatMap(digest => digest.data.changes!.map(change => change.url.slice(-36)))
  t.equal(told.length, 64 - singles)
  t.equal(new Set(told).size, 64 - singles)
})

t.test('a deleted channel takes its digest along', async t => {
  const { ids, chat, tell } = await scene(20)
  await tell(down(ids), at(0))
  await execute(db, 'DELETE FROM alert_channels WHERE id = ?', [chat])
  t.equal(await closeDueDigests(db, at(60)), null)
})

t.test(
  '1,000 changes in one transaction take no more statements than 20, however many deliveries they come to',
  async t => {
    const { tenant, ids, hook } = await scene(1_000)
    let statements = 0
    const count = () => statements++
    db.on('query', count)
    const statementsOf = async (changes: Change[], now: Date) => {
      statements = 0
      await publishWithoutFanOut(db, tenant, changes, now)
      return statements
    }
    const few = await statementsOf(down(ids.slice(0, 20)), at(0))
    const many = await statementsOf(down(ids.slice(20)), at(1))
    db.removeListener('query', count)
    t.ok(few > 5 && few <= 20, `${few} statements are seen`)
    t.ok(many > 5 && many < few, 'where there are many, their deliveries are made afterwards')
    t.equal((await listLoggedDeliveries(db, hook)).length, 20)
    await runFanOut(db, at(2))
    t.equal((await listLoggedDeliveries(db, hook)).length, 1_000)
  },
)

t.test('every change is told once to each channel, singly or in a digest, in the order of its monitor', async t => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ tell: fc.uniqueArray(fc.nat(14), { minLength: 1, maxLength: 14 }) }) },
    { weight: 3, arbitrary: fc.record({ waitSeconds: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 3, arbitrary: fc.record({ deliver: fc.nat(30) }) },
  )
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async steps => {
    const { ids, chat, hook, tell } = await scene(15)
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
        const changes = one.tell.map((n): Change => {
          const before = expected.get(ids[n]!)!
          const status = before.at(-1) === 'down' ? 'up' : 'down'
          before.push(status)
          return { monitorId: ids[n]!, status }
        })
        await tell(changes, at(seconds))
      }
    }
    await closeDueDigests(db, at(seconds + 1_000))
    while (await deliver(0));

    const heard = new Map<string, string[]>(ids.map(id => [id, []]))
    for (const { subject, event, data } of arrived) {
      const changes = data.changes ?? [{ url: subject, status: event.replace('monitor.', '') }]
      for (const change of changes) heard.get(change.url.slice(-36))!.push((change as { status: string }).status)
    }
    const total = [...expected.values()].flat().length
    return (
      JSON.stringify([...heard]) === JSON.stringify([...expected]) &&
      (await listLoggedDeliveries(db, hook)).length === total
    )
  })
  await t.resolves(fc.assert(property, { numRuns: 25, endOnFailure: true }))
})
