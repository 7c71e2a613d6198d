import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { alertLogRoutes } from '../../control-plane/alerting/deliveries/log/routes.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { openAutomaticIncidents } from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { insertChannel, insertMonitor } from '../support/verdict.ts'

const api = await createResourceApi(t, (app, handles) => alertLogRoutes(app, { ...handles, retentionDays: 30 }))

/** An event with one delivery to the channel. Returns the id of the delivery. */
async function insertDelivery(account: Account, channelId: string, subject: string, data: object = {}) {
  const [eventId, id] = [uuidv7(), `whd_${uuidv7()}`]
  const name = subject.startsWith('incident') ? 'incident.created' : 'monitor.down'
  const row = { id, eventId, channelId, subject, name, data: JSON.stringify(data), projectId: account.projectId }
  await execute(
    api.db,
    `INSERT INTO events (id, project_id, name, subject, data, occurred_at)
     VALUES (:eventId, :projectId, :name, :subject, :data, now())`,
    row,
  )
  await execute(
    api.db,
    `INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, created_at, updated_at)
     VALUES (:id, :projectId, :channelId, :eventId, :name, :subject, 'delivered', now(), now())`,
    row,
  )
  return { id, eventId }
}

async function insertDown({ projectId }: Account) {
  const monitorId = await insertMonitor(api.db, projectId)
  const startedAt = new Date()
  const outage = { projectId, monitorId, monitorName: 'Shop', startedAt }
  const { incidents } = await api.db.transaction(tx => openAutomaticIncidents(tx, [outage], api.publicUrl, startedAt))
  return { monitorId, incidentId: incidents[0]!.id }
}

t.test('GET /alerts/log 200 filters by monitor and by incident, and finds digests', async t => {
  const account = await api.account()
  const { monitorId, incidentId } = await insertDown(account)
  const other = await insertDown(account)
  const channelId = await insertChannel(api.db, account.projectId, [monitorId])
  const send = (subject: string, data?: object) => insertDelivery(account, channelId, subject, data)
  const earlier = await send(`monitor:${monitorId}`, { incident: { id: uuidv7() } })
  const down = await send(`monitor:${monitorId}`, { incident: { id: incidentId } })
  const created = await send(`incident:${incidentId}`)
  await send(`monitor:${other.monitorId}`, { incident: { id: other.incidentId } })
  const digest = await send(`digest:${account.projectId}`)
  await execute(
    api.db,
    `WITH digest AS (
       INSERT INTO digests (id, project_id, channel_id, due_at, closed_at, delivery_id)
       VALUES (gen_random_uuid(), ?, ?, now(), now(), ?) RETURNING id)
     INSERT INTO digest_entries (digest_id, event_id, subject, told_at) SELECT id, ?, ?, now() FROM digest`,
    [account.projectId, channelId, digest.id, down.eventId, `monitor:${monitorId}`],
  )
  const ids = async (filter: string) => {
    const { status, body } = await account.call(`GET /alerts/log?${filter}`)
    t.equal(status, 200, filter)
    t.equal(body.meta.total, body.data.length, `${filter}: the total`)
    return body.data.map(({ id }: { id: string }) => id)
  }
  t.same(await ids(`monitor_id=${monitorId}`), [digest.id, down.id, earlier.id])
  t.same(await ids(`incident_id=${incidentId}`), [digest.id, created.id, down.id])
  t.same(await ids(`incident_id=${incidentId}&monitor_id=${monitorId}`), [digest.id, down.id])
  t.same(await ids(`incident_id=${incidentId}&event=incident.created`), [created.id])
})

t.test('GET /alerts/log 200 says what each delivery is about', async t => {
  const account = await api.account()
  const channelId = await insertChannel(api.db, account.projectId, [])
  const [monitor, incident, vendor] = [uuidv7(), uuidv7(), uuidv7()]
  const rows: [subject: string, data: object, about: object | null][] = [
    [
      `monitor:${monitor}`,
      { monitor: { id: monitor, name: 'Shop' }, incident: { title: 'Shop is down' } },
      { type: 'monitor', id: monitor, name: 'Shop' },
    ],
    [
      `incident:${incident}`,
      { incident: { id: incident, title: 'Late orders' }, monitors: [{ name: 'Shop' }] },
      { type: 'incident', id: incident, name: 'Late orders' },
    ],
    [
      `vendor:${vendor}`,
      { vendor: { name: 'Cloud' }, incident: { title: 'Errors' } },
      { type: 'vendor', id: vendor, name: 'Cloud' },
    ],
    [
      `channel:${channelId}`,
      { monitor: { name: 'Test of the channel Hook' } },
      { type: 'test', id: null, name: 'Test of the channel Hook' },
    ],
    [`digest:${account.projectId}`, {}, null],
  ]
  for (const [subject, data] of rows) await insertDelivery(account, channelId, subject, data)
  const { body } = await account.call('GET /alerts/log')
  t.same(
    body.data.map((one: { about: object }) => one.about),
    rows.map(([, , about]) => about).toReversed(),
  )
})

t.test('GET /alerts/log 404 for a monitor or an incident of another tenant', async t => {
  const account = await api.account()
  const theirs = await insertDown(await api.account())
  for (const id of [theirs.monitorId, 'nope', uuidv7()]) {
    t.equal((await account.call(`GET /alerts/log?monitor_id=${id}`)).status, 404, id)
  }
  for (const id of [theirs.incidentId, 'nope', uuidv7()]) {
    t.equal((await account.call(`GET /alerts/log?incident_id=${id}`)).status, 404, id)
  }
})
