import t from 'tap'
import { startReminderWorker } from '../../control-plane/alerting/routing/reminders/worker.ts'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { confirmAddresses } from '../support/addresses.ts'
import { startApi } from '../support/api-server.ts'
import { startNats } from '../support/nats.ts'
import { startReceiver } from '../support/receiver.ts'
import { startSmtp } from '../support/smtp.ts'
import { createNextResult, insertLiveProbes, insertMonitors, publish } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 20 s

const server = await startNats(t)
const smtp = await startSmtp(t)
const roles = 'api,verdict,deliver,schedule'
const api = await startApi(t, {
  ROLES: roles,
  NATS_URL: server.url,
  SMTP_URL: smtp.url,
  MAIL_FROM: 'picket@example.com',
})
const { key, projectId, organizationId } = await api.tenant()
await confirmAddresses(api.db, organizationId, 'ops@example.com')
await insertLiveProbes(api.db)
const nats = await connectNats(server.url, 'test')
t.teardown(() => nats.close())
const [hook, chat] = [await startReceiver(t), await startReceiver(t)]
const ofIncidents = { hook: await startReceiver(t), chat: await startReceiver(t) }

/** In one partition, so that one verdict processes all failures together. */
async function monitorsOfOnePartition(count: number): Promise<string[]> {
  const mine = await insertMonitors(api.db, projectId, count, { partition: 5 })
  await execute(api.db, `UPDATE monitors SET name = 'Shop ' || right(id::text, 12)`)
  return mine
}

async function addChannel(type: string, config: object, monitorIds: string[]): Promise<string> {
  const made = await api.call('POST', '/alerts/channels', { key, body: { name: type, type, config } })
  const alert_channel_id = made.body.data.id
  for (const monitor_id of monitorIds)
    await api.call('POST', '/alerts/rules', { key, body: { monitor_id, alert_channel_id } })
  return alert_channel_id
}

async function subscribe(alert_channel_id: string): Promise<void> {
  const body = { alert_channel_id, alert_type: 'incident' }
  t.equal((await api.call('POST', '/alerts/project-channels', { key, body })).status, 201)
}

const fail = (monitorIds: string[]) =>
  publish(
    nats,
    monitorIds.map(id => createNextResult(id, { up: false })),
  )
const recover = (monitorIds: string[]) =>
  publish(
    nats,
    monitorIds.map(id => createNextResult(id, { up: true })),
  )
/** As if the minute between two digests had passed. */
const sendDigests = () =>
  execute(
    api.db,
    `WITH due AS (UPDATE digests SET due_at = now() WHERE closed_at IS NULL) SELECT pg_notify('digests', '')`,
  )
/** the monitors in a message */
const namesIn = (text: string) => [...new Set(text.match(/Shop [0-9a-f]{12}/g) ?? [])].sort()
const toNames = (ids: string[]) => ids.map(id => `Shop ${id.slice(-12)}`).sort()

t.test('In a storm a webhook gets each monitor, and a chat and a mailbox get one message', async t => {
  const ids = await monitorsOfOnePartition(45)
  const [storm, trickle] = [ids.slice(0, 40), ids.slice(40)]
  const hookId = await addChannel('webhook', { url: hook.url }, ids)
  const chatId = await addChannel('chat_a', { webhook_url: chat.url }, ids)
  await addChannel('email', { to: ['ops@example.com'] }, ids)
  await subscribe(await addChannel('webhook', { url: ofIncidents.hook.url }, []))
  await subscribe(await addChannel('chat_a', { webhook_url: ofIncidents.chat.url }, []))

  await fail(storm)
  const singles = await hook.waitFor(40)
  t.same(new Set(singles.map(one => one.json.data.monitor.id)), new Set(storm))
  const [first] = await chat.waitFor(1)
  const mails = await smtp.waitFor(1)
  t.same(namesIn(first!.rawBody), toNames(storm), 'ten seconds later the chat gets all 40')
  t.same(namesIn(mails[0]!.text ?? ''), toNames(storm), 'so is the mailbox')
  const incidents = await ofIncidents.hook.waitFor(40)
  t.same(new Set(incidents.map(one => one.json.event)), new Set(['incident.created']))
  t.equal(new Set(incidents.map(one => one.json.data.incident.id)).size, 40)
  const [outages] = await ofIncidents.chat.waitFor(1)
  t.same(namesIn(outages!.rawBody), toNames(storm), 'so does a chat that gets incidents only')
  t.match(outages!.json.text, /^40 monitors of .+ changed: 40 down/)

  // however long this took, the storm goes on
  await execute(api.db, 'UPDATE digest_entries SET told_at = now()')
  await execute(api.db, 'UPDATE deliveries SET created_at = now()')
  for (const id of trickle) await fail([id])
  await hook.waitFor(45)
  await sendDigests()
  const [, second] = await chat.waitFor(2)
  t.same(namesIn(second!.rawBody), toNames(trickle), 'those that follow are in the next')

  await recover(ids)
  await hook.waitFor(90)
  await sendDigests()
  const [, , third] = await chat.waitFor(3)
  t.same(namesIn(third!.rawBody), toNames(ids))
  t.match(third!.json.text, /45 up/)
  t.equal((await smtp.waitFor(3)).length, 3)
  const ends = (await ofIncidents.chat.waitFor(3)).slice(2)
  t.same(
    ends.map(end => namesIn(end.rawBody)),
    [toNames(ids)],
    'the end of the incidents too',
  )

  const log = await waitFor(
    async () => {
      const answer = await api.call('GET', `/alerts/log?event=monitor.digest&channel_id=${chatId}`, { key })
      return answer.body.data[0].status === 'pending' ? null : answer
    },
    { label: 'the outcome of the last digest' },
  )
  t.equal(log.body.meta.total, 3)
  t.match(log.body.data[0], { event: 'monitor.digest', status: 'delivered', delivery_id: /^whd_/ })
  t.equal((await api.call('GET', `/alerts/log?event=monitor.digest&channel_id=${hookId}`, { key })).body.meta.total, 0)
})

t.test(
  'A lasting outage is sent again: to a webhook with X-Service-Reminder and the same body, to a chat as text',
  async t => {
    const [id] = await query<{ id: string }>(api.db, 'SELECT id FROM monitors LIMIT 1').then(rows =>
      rows.map(row => row.id),
    )
    // the storm has ended
    await execute(api.db, `UPDATE digest_entries SET told_at = told_at - interval '2 minutes'`)
    await execute(api.db, `UPDATE deliveries SET created_at = created_at - interval '2 minutes'`)
    const [before, chatBefore] = [hook.received.length, chat.received.length]
    await fail([id!])
    await hook.waitFor(before + 1)
    const rules = await api.call('GET', `/alerts/rules?monitor_id=${id}`, { key })
    for (const rule of rules.body.data) {
      const body = { remind_every_minutes: 30 }
      t.equal((await api.call('PUT', `/alerts/rules/${rule.id}`, { key, body })).status, 200)
    }
    await execute(api.db, `UPDATE incidents SET started_at = now() - interval '2 hours' WHERE resolved_at IS NULL`)
    await execute(api.db, `UPDATE reminders SET told = 2, due_at = now()`)
    const worker = startReminderWorker({ db: api.db, log: createLog('test', 'silent'), metrics: createMetrics() })
    t.teardown(() => worker.stop())

    const [first, reminder] = (await hook.waitFor(before + 2)).slice(before)
    t.notOk('x-service-reminder' in first!.headers)
    t.equal(reminder!.headers['x-service-reminder'], '3')
    t.not(reminder!.headers['x-service-delivery'], first!.headers['x-service-delivery'])
    t.same(Object.keys(reminder!.json), Object.keys(first!.json))
    t.same(Object.keys(reminder!.json.data), Object.keys(first!.json.data))
    t.match(reminder!.json, { event: 'monitor.down', data: { monitor: { id, status: 'down' } } })
    const words = (await chat.waitFor(chatBefore + 2)).at(-1)!.rawBody
    t.match(words, /still down/)
    t.match(words, /2 hours/)
    await recover([id!])
    await waitFor(() => hook.received.at(-1)?.json.event === 'monitor.up')
  },
)
