import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createIncidentApi } from '../support/incidents.ts'
import type { Account } from '../support/resource-api.ts'
import { insertMonitor } from '../support/verdict.ts'

const { api, listEvents, listEventNames } = await createIncidentApi(t)
const MISSING_ID = '0190a0a0-0000-7000-8000-000000000000'

async function open(account: Account, body: object = {}): Promise<string> {
  const answer = await account.call('POST /incidents', { title: 'Payments fail', ...body })
  return answer.body.data.id
}
const readUpdates = async ({ call }: Account, id: string) => (await call(`GET /incidents/${id}/updates`)).body.data

t.test('POST /incidents 201 with a title only', async t => {
  const account = await api.account()
  const { status, body } = await account.call('POST /incidents', { title: 'Payments fail' })
  t.equal(status, 201)
  const { id, started_at } = body.data
  t.same(body.data, {
    id,
    title: 'Payments fail',
    severity: 'minor',
    status: 'investigating',
    message: null,
    source: 'manual',
    caused_by_monitor_id: null,
    monitor_ids: [],
    monitors: [],
    started_at,
    resolved_at: null,
    acknowledged_at: null,
    acknowledged_by: null,
    postmortem: null,
    postmortem_published_at: null,
    created_at: started_at,
    updated_at: started_at,
  })
  t.same((await account.call(`GET /incidents/${id}`)).body, { data: { ...body.data, possible_causes: [] } })
  t.same(await readUpdates(account, id), [])
  t.match(await listEvents(id), [{ name: 'incident.created', data: { update: null, monitors: [] } }])
})

t.test('POST /incidents 201: the message becomes the first update, and monitors are listed', async t => {
  const account = await api.account()
  const shop = await insertMonitor(api.db, account.projectId, { name: 'Shop' })
  const blog = await insertMonitor(api.db, account.projectId, { name: 'Blog' })
  const asked = {
    title: 'Payments fail',
    severity: 'critical',
    status: 'identified',
    message: 'A bad card\nprocessor.',
  }
  const { status, body } = await account.call('POST /incidents', {
    ...asked,
    monitor_ids: [blog, shop.toUpperCase(), shop],
  })
  t.equal(status, 201)
  t.match(body.data, { ...asked, monitor_ids: [shop, blog], monitors: [{ name: 'Shop' }, { name: 'Blog' }] })
  const updates = await readUpdates(account, body.data.id)
  t.same(updates, [
    {
      id: updates[0].id,
      incident_id: body.data.id,
      status: 'identified',
      message: 'A bad card\nprocessor.',
      is_internal: false,
      author_id: account.userId,
      created_at: body.data.created_at,
      updated_at: body.data.created_at,
    },
  ])
  t.match(await listEvents(body.data.id), [{ name: 'incident.created', data: { update: { id: updates[0].id } } }])
})

t.test('POST /incidents 201 for a resolved incident publishes incident.created only', async t => {
  const account = await api.account()
  const { body } = await account.call('POST /incidents', { title: 'Last night', status: 'resolved' })
  t.equal(body.data.resolved_at, body.data.started_at)
  t.equal(await listEventNames(body.data.id), 'created')
})

t.test('POST /incidents 400 for missing, too long, unknown and invalid fields', async t => {
  const account = await api.account()
  const bodies = [
    {},
    { title: '' },
    { title: 'x'.repeat(201) },
    { title: 'two\nlines' },
    { title: 'x', severity: 'huge' },
    { title: 'x', status: 'open' },
    { title: 'x', message: 7 },
    { title: 'x', message: 'x'.repeat(10_001) },
    { title: 'x', monitor_ids: MISSING_ID },
    { title: 'x', monitor_ids: [MISSING_ID, MISSING_ID] },
    { title: 'x', source: 'automatic' },
    { title: 'x', severity: 'huge', monitor_ids: [MISSING_ID] },
  ]
  for (const body of bodies) {
    const answer = await account.call('POST /incidents', body)
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 80))
    t.equal(answer.body.error.code, 'validation_error')
  }
  t.equal((await account.call('POST /incidents', { title: 'x'.repeat(200) })).status, 201)
})

t.test(
  'POST /incidents 404 for an unknown or deleted monitor, or one of another project, and stores nothing',
  async t => {
    const account = await api.account()
    const mine = await insertMonitor(api.db, account.projectId)
    const gone = await insertMonitor(api.db, account.projectId)
    await query(api.db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [gone])
    const theirs = await insertMonitor(api.db, (await api.account()).projectId)
    for (const id of [theirs, gone, MISSING_ID, 'not-an-id']) {
      const answer = await account.call('POST /incidents', { title: 'x', monitor_ids: [mine, id] })
      t.match(
        answer,
        { status: 404, body: { error: { code: 'not_found', message: `monitor not found: "${id}"` } } },
        id,
      )
    }
    t.equal((await account.call('GET /incidents')).body.meta.total, 0)
  },
)

t.test(
  'PUT /incidents/{id} 200: a new status and a new severity each write an update, and publish one event together',
  async t => {
    const account = await api.account()
    const id = await open(account)
    const { status, body } = await account.call(`PUT /incidents/${id}`, { severity: 'critical' })
    t.equal(status, 200)
    t.match(body.data, { id, severity: 'critical', message: 'Severity changed from minor to critical' })
    await account.call(`PUT /incidents/${id}`, { status: 'identified', severity: 'major', title: 'Cards fail' })
    t.match(await readUpdates(account, id), [
      {
        status: 'identified',
        message: 'Status changed from investigating to identified',
        author_id: account.userId,
        is_internal: false,
      },
      {
        status: 'investigating',
        message: 'Severity changed from critical to major',
        author_id: account.userId,
        is_internal: true,
      },
      { status: 'investigating', message: 'Severity changed from minor to critical', is_internal: true },
    ])
    t.equal(
      (await account.call(`GET /incidents/${id}`)).body.data.message,
      'Status changed from investigating to identified',
    )
    const events = await listEvents(id)
    t.match(events, [
      { name: 'incident.created' },
      { name: 'incident.updated', data: { incident: { severity: 'critical' }, update: { status: 'investigating' } } },
      {
        name: 'incident.updated',
        data: { incident: { title: 'Cards fail' }, update: { status: 'identified', is_internal: false } },
      },
    ])
    t.equal(events.length, 3)
  },
)

t.test('PUT /incidents/{id} 200: a title alone, or no change, publishes no event', async t => {
  const account = await api.account()
  const id = await open(account)
  t.equal((await account.call(`PUT /incidents/${id}`, { title: 'Cards fail' })).body.data.title, 'Cards fail')
  const before = await account.call(`PUT /incidents/${id}`, {})
  for (const body of [{}, { title: 'Cards fail', status: 'investigating', severity: 'minor' }, { monitor_ids: [] }]) {
    t.match(await account.call(`PUT /incidents/${id}`, body), { status: 200, body: before.body })
  }
  t.same(await readUpdates(account, id), [])
  t.equal(await listEventNames(id), 'created')
})

t.test(
  'PUT /incidents/{id} 200: resolving publishes one event, and reopening is an update that clears resolved_at',
  async t => {
    const account = await api.account()
    const id = await open(account)
    const resolved = (await account.call(`PUT /incidents/${id}`, { status: 'resolved' })).body.data
    t.match(resolved, { status: 'resolved', resolved_at: resolved.updated_at })
    const again = (await account.call(`PUT /incidents/${id}`, { status: 'resolved', severity: 'major' })).body.data
    t.equal(again.resolved_at, resolved.resolved_at)
    const reopened = (await account.call(`PUT /incidents/${id}`, { status: 'monitoring' })).body.data
    t.match(reopened, { status: 'monitoring', resolved_at: null })
    t.equal(await listEventNames(id), 'created resolved updated updated')
    t.match((await listEvents(id))[1]?.data, {
      incident: { resolved_at: resolved.resolved_at },
      update: { status: 'resolved', message: 'Status changed from investigating to resolved' },
    })
  },
)

t.test('PUT /incidents/{id} 400, 403 and 404, in this order', async t => {
  const account = await api.account()
  const id = await open(account)
  const read = await account.callWith('read')
  t.equal((await read(`PUT /incidents/${MISSING_ID}`, { color: 'red' })).status, 403)
  for (const body of [
    { color: 'red' },
    { title: '' },
    { status: 'open' },
    { message: 'x' },
    { monitor_ids: ['x', 'x'] },
  ]) {
    t.equal((await account.call(`PUT /incidents/${MISSING_ID}`, body)).status, 400, JSON.stringify(body))
  }
  const other = await api.account()
  for (const [caller, wanted] of [
    [other, id],
    [account, MISSING_ID],
    [account, 'not-an-id'],
  ] as const) {
    t.equal((await caller.call(`PUT /incidents/${wanted}`, { status: 'resolved' })).status, 404)
  }
  t.equal(await listEventNames(id), 'created')
})

t.test(
  'POST /incidents/{id}/acknowledge 200: the first acknowledgement counts, and a second one changes nothing',
  async t => {
    const account = await api.account()
    const id = await open(account, { message: 'We look at it.' })
    const both = await Promise.all([1, 2].map(() => account.call(`POST /incidents/${id}/acknowledge`)))
    t.same(
      both.map(({ status }) => status),
      [200, 200],
    )
    t.match(both[0]!.body.data, { acknowledged_by: account.userId, acknowledged_at: /Z$/, status: 'investigating' })
    t.same(both[0]!.body, both[1]!.body)
    await account.call(`PUT /incidents/${id}`, { status: 'resolved' })
    t.equal((await account.call(`POST /incidents/${id}/acknowledge`)).status, 200, 'also when it is over')
    t.equal(await listEventNames(id), 'created acknowledged resolved')
    t.match((await listEvents(id))[1]?.data, {
      incident: { acknowledged_by: account.userId },
      update: { message: 'We look at it.' },
    })
  },
)

t.test('POST /incidents/{id}/acknowledge 409 for a resolved incident, 404 for an unknown one', async t => {
  const account = await api.account()
  const id = await open(account, { status: 'resolved' })
  const answer = await account.call(`POST /incidents/${id}/acknowledge`)
  t.match(answer, { status: 409, body: { error: { code: 'conflict', message: /resolved/ } } })
  const other = await api.account()
  t.equal((await other.call(`POST /incidents/${id}/acknowledge`)).status, 404)
  t.equal((await account.call('POST /incidents/not-an-id/acknowledge')).status, 404)
  t.equal(await listEventNames(id), 'created')
})

t.test('DELETE /incidents/{id} 200 and 404: deletes the incident and its updates without an event', async t => {
  const account = await api.account()
  const other = await api.account()
  const id = await open(account, { message: 'We look at it.' })
  t.equal((await other.call(`DELETE /incidents/${id}`)).status, 404)
  t.match(await account.call(`DELETE /incidents/${id}`), { status: 200, body: { data: { id, deleted: true } } })
  t.equal((await account.call(`DELETE /incidents/${id}`)).status, 404)
  t.equal((await account.call('DELETE /incidents/not-an-id')).status, 404)
  t.equal((await account.call(`GET /incidents/${id}/updates`)).status, 404)
  t.same(await query(api.db, 'SELECT id FROM incident_updates WHERE incident_id = ?', [id]), [])
  t.equal(await listEventNames(id), 'created')
})
