import t from 'tap'
import type { EventName, EventRow } from '../../control-plane/alerting/events/catalog.ts'
import { publishEvents } from '../../control-plane/alerting/routing/publishing/publish-actions.ts'
import { subscriptionRoutes } from '../../control-plane/alerting/routing/rules/subscription-routes.ts'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { SAMPLES } from '../support/channel-events.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { insertChannel } from '../support/verdict.ts'

const api = await createResourceApi(t, subscriptionRoutes)
const MISSING_ID = '0190a0a0-0000-7000-8000-000000000000'

const addChannel = ({ projectId }: Account) => insertChannel(api.db, projectId, [])

t.test('POST /alerts/project-channels 201 subscribes a channel once to each type', async t => {
  const account = await api.account()
  const channel = await addChannel(account)
  const body = { alert_channel_id: channel.toUpperCase(), alert_type: 'incident' }
  const created = await account.call('POST /alerts/project-channels', body)
  t.equal(created.status, 201)
  t.match(created.body.data, {
    id: /^[0-9a-f-]{36}$/,
    alert_channel_id: channel,
    alert_type: 'incident',
    created_at: /Z$/,
    updated_at: /Z$/,
  })
  t.match(await account.call('POST /alerts/project-channels', { ...body, alert_type: 'dependency_incident' }), {
    status: 201,
  })
})

t.test('POST /alerts/project-channels 409 for an existing subscription, also with concurrent requests', async t => {
  const account = await api.account()
  const body = { alert_channel_id: await addChannel(account), alert_type: 'incident' }
  const both = await Promise.all([1, 2].map(() => account.call('POST /alerts/project-channels', body)))
  t.same(both.map(({ status }) => status).sort(), [201, 409])
  t.match(await account.call('POST /alerts/project-channels', body), { body: { error: { code: 'conflict' } } })
  t.equal((await account.call('GET /alerts/project-channels')).body.meta.total, 1)
})

t.test('POST /alerts/project-channels 404 for an unknown channel and for a channel of another project', async t => {
  const account = await api.account()
  const theirs = await addChannel(await api.account())
  for (const alert_channel_id of [theirs, MISSING_ID, 'not-an-id']) {
    const body = { alert_channel_id, alert_type: 'incident' }
    t.match(await account.call('POST /alerts/project-channels', body), {
      status: 404,
      body: { error: { code: 'not_found', message: 'channel not found' } },
    })
  }
})

t.test('POST /alerts/project-channels 400 for an unknown type and unknown properties', async t => {
  const account = await api.account()
  const alert_channel_id = await addChannel(account)
  const bodies = [
    { alert_channel_id },
    { alert_type: 'incident' },
    { alert_channel_id: '', alert_type: 'incident' },
    { alert_channel_id, alert_type: 'monitor' },
    { alert_channel_id, alert_type: 'incident', severity: 'major' },
    { alert_channel_id: MISSING_ID, alert_type: 'everything' },
  ]
  for (const body of bodies) {
    const { status } = await account.call('POST /alerts/project-channels', body)
    t.equal(status, 400, JSON.stringify(body))
  }
})

t.test('POST and DELETE /alerts/project-channels 403 with a read key; GET 200', async t => {
  const account = await api.account()
  const read = await account.callWith('read')
  const body = { alert_channel_id: await addChannel(account), alert_type: 'incident' }
  const { id } = (await account.call('POST /alerts/project-channels', body)).body.data
  t.equal((await read('POST /alerts/project-channels', { nothing: true })).status, 403, 'before the body is read')
  t.equal((await read(`DELETE /alerts/project-channels/${id}`)).status, 403)
  t.equal((await read('GET /alerts/project-channels')).body.data[0].id, id)
})

t.test('GET /alerts/project-channels 200 lists the subscriptions of the project, newest first, in pages', async t => {
  const account = await api.account()
  const other = await api.account()
  for (const owner of [account, other]) {
    const alert_channel_id = await addChannel(owner)
    for (const alert_type of ['incident', 'dependency_incident']) {
      await owner.call('POST /alerts/project-channels', { alert_channel_id, alert_type })
    }
  }
  const { body } = await account.call('GET /alerts/project-channels')
  t.same(
    body.data.map((one: { alert_type: string }) => one.alert_type),
    ['dependency_incident', 'incident'],
  )
  t.same(body.meta, { page: 1, per_page: 25, total: 2, total_pages: 1 })
  const second = await account.call('GET /alerts/project-channels?page=2&per_page=1')
  t.match(second.body, { data: [{ alert_type: 'incident' }], meta: { page: 2, per_page: 1, total: 2, total_pages: 2 } })
  t.equal((await account.call('GET /alerts/project-channels?alert_type=incident')).status, 400)
})

t.test('DELETE /alerts/project-channels/{id} 200 and 404', async t => {
  const account = await api.account()
  const other = await api.account()
  const body = { alert_channel_id: await addChannel(account), alert_type: 'incident' }
  const { id } = (await account.call('POST /alerts/project-channels', body)).body.data
  t.equal((await other.call(`DELETE /alerts/project-channels/${id}`)).status, 404, 'of another project')
  t.match(await account.call(`DELETE /alerts/project-channels/${id}`), {
    status: 200,
    body: { data: { id, deleted: true } },
  })
  t.equal((await account.call(`DELETE /alerts/project-channels/${id}`)).status, 404)
  t.equal((await account.call('DELETE /alerts/project-channels/not-an-id')).status, 404)
  t.equal((await account.call('POST /alerts/project-channels', body)).status, 201, 'and it can be subscribed again')
})

t.test('An event is sent to the subscriptions of its project and type', async t => {
  const [account, other] = [await api.account(), await api.account()]
  const incidents = await addChannel(account)
  const vendors = await addChannel(account)
  const theirs = await addChannel(other)
  const subscribe = (owner: Account, alert_channel_id: string, alert_type: string) =>
    owner.call('POST /alerts/project-channels', { alert_channel_id, alert_type })
  await subscribe(account, incidents, 'incident')
  await subscribe(account, vendors, 'dependency_incident')
  await subscribe(other, theirs, 'incident')
  const [incident, vendor] = [newId(), newId()]
  const event = (name: EventName, subject: string) => {
    const { projectId } = account
    return { id: newId(), projectId, name, subject, data: SAMPLES[name], occurredAt: new Date() } as EventRow
  }
  await api.db.transaction(tx =>
    publishEvents(
      tx,
      [event('incident.created', `incident:${incident}`), event('vendor.resolved', `vendor:${vendor}`)],
      new Date(),
    ),
  )
  t.same(
    await query(
      api.db,
      'SELECT channel_id, event_name, subject FROM deliveries WHERE channel_id = ANY(?) ORDER BY event_name',
      [[incidents, vendors, theirs]],
    ),
    [
      { channel_id: incidents, event_name: 'incident.created', subject: `incident:${incident}` },
      { channel_id: vendors, event_name: 'vendor.resolved', subject: `vendor:${vendor}` },
    ],
  )
})
