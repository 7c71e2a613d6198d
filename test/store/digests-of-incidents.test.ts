import fc from 'fast-check'
import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { closeDueDigests } from '../../control-plane/alerting/routing/digests/actions.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { acknowledgeIncident, openIncident, postUpdate } from '../../control-plane/verdict/incidents/api/actions.ts'
import { createDatabase } from '../support/database.ts'
import {
  insertSubscribedChannel,
  type LoggedDelivery,
  listLoggedDeliveries,
  publishOutages,
  subscribe,
} from '../support/publishing.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const START = Date.parse('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1_000)
const tools = { db, publicUrl: 'http://picket.test', limits: DEFAULT_LIMITS }
const listNames = (received: LoggedDelivery[]) =>
  received.map(({ event, data }) => `${event} ${data.changes?.length ?? 1}`)

/** `chat` gets incidents, `mail` and `hook` also monitors. */
async function scene(count: number) {
  const tenant = await insertTenant(db)
  const ids = await insertMonitors(db, tenant.projectId, count)
  const chat = await insertSubscribedChannel(db, tenant, [], 'chat_a')
  const mail = await insertSubscribedChannel(db, tenant, ids, 'email')
  const hook = await insertSubscribedChannel(db, tenant, ids, 'webhook')
  for (const channel of [chat, mail, hook]) await subscribe(db, tenant, channel)
  const turn = (status: 'down' | 'up') => (monitorIds: string[], seconds: number) =>
    publishOutages(
      db,
      tenant,
      monitorIds.map(monitorId => ({ monitorId, status })),
      at(seconds),
    )
  return { tenant, ids, chat, mail, hook, fail: turn('down'), recover: turn('up') }
}

const deliverAll = () => execute(db, `UPDATE deliveries SET status = 'delivered' WHERE status = 'pending'`)

async function findIncidentId(monitorId: string): Promise<string> {
  const rows = await query<{ id: string }>(
    db,
    'SELECT id FROM incidents WHERE cause_monitor_id = ? AND resolved_at IS NULL',
    [monitorId],
  )
  return rows[0]!.id
}

t.test(
  '40 simultaneous incidents are one digest for a chat and 40 messages for a webhook, and again when they end',
  async t => {
    const { ids, chat, mail, hook, fail, recover } = await scene(40)
    await fail(ids, 0)
    t.same(await listLoggedDeliveries(db, chat), [])
    t.equal((await listLoggedDeliveries(db, hook)).length, 80, 'each monitor and each incident')
    await closeDueDigests(db, at(10))
    t.same(listNames(await listLoggedDeliveries(db, chat)), ['monitor.digest 40'])
    t.same(listNames(await listLoggedDeliveries(db, mail)), ['monitor.digest 80'], 'rendered as 40 lines')
    await deliverAll()
    await recover(ids, 200)
    await closeDueDigests(db, at(210))
    const [, digest] = await listLoggedDeliveries(db, chat)
    t.same(
      digest?.data.changes?.map(change => change.status),
      ids.map(() => 'up'),
    )
  },
)

t.test('A channel that gets monitors and their incidents counts the monitors', async t => {
  const { ids, chat, mail, fail } = await scene(12)
  for (const [i, id] of ids.slice(0, 10).entries()) await fail([id], i)
  t.equal((await listLoggedDeliveries(db, chat)).length, 10)
  t.equal((await listLoggedDeliveries(db, mail)).length, 20)
  await fail(ids.slice(10), 20)
  t.equal((await listLoggedDeliveries(db, chat)).length, 10)
  t.equal((await listLoggedDeliveries(db, mail)).length, 20, 'the eleventh makes it a storm')
})

t.test('Incidents that people open are sent singly and do not cause a storm, in any number', async t => {
  const { tenant, ids, chat, fail } = await scene(5)
  const open = (title: string) => openIncident(tools, tenant, { title, monitor_ids: ids }, at(0))
  for (let i = 0; i < 20; i++) await open(`Incident ${i}`)
  await fail(ids, 1)
  t.same(new Set(listNames(await listLoggedDeliveries(db, chat))), new Set(['incident.created 1']))
  t.equal((await listLoggedDeliveries(db, chat)).length, 25)
})

t.test('An update by a person waits behind the digest with its incident, and is sent singly', async t => {
  const { tenant, ids, chat, hook, fail, recover } = await scene(20)
  await fail(ids, 0)
  const [first, second, third] = [
    await findIncidentId(ids[0]!),
    await findIncidentId(ids[1]!),
    await findIncidentId(ids[2]!),
  ]
  await acknowledgeIncident(tools, tenant, first, at(2))
  await postUpdate(tools, tenant, first, { message: 'A cable.', status: 'identified' }, at(3))
  t.match((await listLoggedDeliveries(db, hook)).slice(-2), [
    { event: 'incident.acknowledged' },
    { event: 'incident.updated' },
  ])
  t.same(await listLoggedDeliveries(db, chat), [])
  await closeDueDigests(db, at(10))
  const expected = ['monitor.digest 20', 'incident.acknowledged 1', 'incident.updated 1']
  t.same(listNames(await listLoggedDeliveries(db, chat)), expected)
  t.equal(new Set((await listLoggedDeliveries(db, chat)).map(received => received.subject)).size, 1, 'in one lane')

  await postUpdate(tools, tenant, second, { message: 'Fixed.', status: 'resolved' }, at(20))
  t.equal((await listLoggedDeliveries(db, chat)).length, 3, 'the digest is still to be sent')
  await closeDueDigests(db, at(70))
  t.same(listNames(await listLoggedDeliveries(db, chat)), [...expected, 'incident.resolved 1'], 'without a digest')

  const digest = (await listLoggedDeliveries(db, chat))[0]!
  await execute(db, `UPDATE deliveries SET status = 'delivered' WHERE id = ?`, [digest.id])
  await recover([ids[0]!], 200)
  t.equal((await listLoggedDeliveries(db, chat)).length, 4, 'its updates are still to be sent')
  await deliverAll()
  await postUpdate(tools, tenant, third, { message: 'Looking.' }, at(201))
  t.equal(
    (await listLoggedDeliveries(db, chat)).at(-1)?.event,
    'incident.updated',
    'nothing waits any more: it is sent immediately',
  )
})

t.test(
  'An incident that is acknowledged and then ends, within the time of one digest, is sent in that order',
  async t => {
    const { tenant, ids, chat, fail, recover } = await scene(20)
    await fail(ids, 0)
    await acknowledgeIncident(tools, tenant, await findIncidentId(ids[0]!), at(2))
    await recover(ids.slice(0, 2), 4)
    await closeDueDigests(db, at(10))
    t.same(listNames(await listLoggedDeliveries(db, chat)), [
      'monitor.digest 21',
      'incident.acknowledged 1',
      'incident.resolved 1',
    ])
  },
)

t.test(
  'Each change of an incident or a monitor is sent once to each channel, singly or in a digest, in order',
  async t => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ turn: fc.uniqueArray(fc.nat(13), { minLength: 1, maxLength: 14 }) }) },
      {
        weight: 3,
        arbitrary: fc.record({ change: fc.constantFrom('acknowledge', 'update', 'resolve'), of: fc.nat(13) }),
      },
      { weight: 3, arbitrary: fc.record({ waitSeconds: fc.integer({ min: 1, max: 40 }) }) },
      { weight: 4, arbitrary: fc.record({ deliver: fc.nat(40) }) },
    )
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async steps => {
      const { tenant, ids, chat, mail, hook, fail, recover } = await scene(14)
      const isDown = new Set<string>()
      const lanes = { [chat]: [] as LoggedDelivery[], [mail]: [] as LoggedDelivery[] }
      /** the head of a lane arrives */
      const deliver = async (channelId: string, pick: number) => {
        const pending = (await listLoggedDeliveries(db, channelId)).filter(received => received.status === 'pending')
        const heads = [...new Map(pending.toReversed().map(received => [received.subject, received])).values()]
        const head = heads[pick % Math.max(1, heads.length)]
        if (!head) return false
        await execute(db, `UPDATE deliveries SET status = 'delivered' WHERE id = ?`, [head.id])
        return lanes[channelId]!.push(head)
      }
      let seconds = 0
      for (const one of steps) {
        if ('waitSeconds' in one) {
          seconds += one.waitSeconds
          await closeDueDigests(db, at(seconds))
        } else if ('deliver' in one) {
          for (const channelId of [chat, mail]) await deliver(channelId, one.deliver)
        } else if ('turn' in one) {
          const turning = one.turn.map(n => ids[n]!)
          const [downs, ups] = [turning.filter(id => !isDown.has(id)), turning.filter(id => isDown.has(id))]
          for (const id of downs) isDown.add(id)
          for (const id of ups) isDown.delete(id)
          await fail(downs, seconds)
          await recover(ups, seconds)
        } else await changeIncident(tenant, ids[one.of]!, one.change, at(seconds))
      }
      await closeDueDigests(db, at(seconds + 1_000))
      for (const channelId of [chat, mail]) while (await deliver(channelId, 0));

      const all = eventsBySubject(await listLoggedDeliveries(db, hook))
      const ofIncidents = Object.fromEntries(Object.entries(all).filter(([subject]) => subject.startsWith('incident:')))
      t.same(eventsBySubject(lanes[mail]!), all)
      t.same(eventsBySubject(lanes[chat]!), ofIncidents)
      return t.passing()
    })
    await t.resolves(fc.assert(property, { numRuns: 15, endOnFailure: true }))
  },
)

/** An update of the newest incident of a monitor, if it has one. */
async function changeIncident(
  person: { projectId: string; userId: string },
  monitorId: string,
  what: string,
  now: Date,
) {
  const [incident] = await query<{ id: string; isOpen: boolean }>(
    db,
    `SELECT id, resolved_at IS NULL AS "isOpen" FROM incidents WHERE cause_monitor_id = ? ORDER BY id DESC LIMIT 1`,
    [monitorId],
  )
  if (!incident) return
  if (what === 'acknowledge' && incident.isOpen) await acknowledgeIncident(tools, person, incident.id, now)
  if (what === 'update') await postUpdate(tools, person, incident.id, { message: 'We are on it.' }, now)
  if (what === 'resolve') await postUpdate(tools, person, incident.id, { message: 'Done.', status: 'resolved' }, now)
}

/** The events of each monitor and incident in the order of arrival, singly or as lines of digests. */
function eventsBySubject(arrived: LoggedDelivery[]): Record<string, string[]> {
  const events: Record<string, string[]> = {}
  for (const { about, event, data } of arrived) {
    for (const { subject, name } of data.changes?.map(toLine) ?? [{ subject: about, name: event }]) {
      events[subject] = [...(events[subject] ?? []), name]
    }
  }
  return Object.fromEntries(Object.entries(events).toSorted())
}

function toLine({ url, status }: { url: string; status: string }) {
  const [kind, id] = url.split('/').slice(-2)
  if (kind === 'monitors') return { subject: `monitor:${id}`, name: `monitor.${status}` }
  return { subject: `incident:${id}`, name: status === 'down' ? 'incident.created' : 'incident.resolved' }
}
