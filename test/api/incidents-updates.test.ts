import t from 'tap'
import type { CreateIncidentUpdateData, IncidentCreate } from '../../deploy/client/index.ts'
import { unwrapAnswer, unwrapData } from '../support/client.ts'
import { createIncidentApi } from '../support/incidents.ts'
import type { Account } from '../support/resource-api.ts'

const { api, listEvents, listEventNames } = await createIncidentApi(t)
const MISSING_ID = '0190a0a0-0000-7000-8000-000000000000'

async function open({ picket }: Account, status: IncidentCreate['status'] = 'investigating'): Promise<string> {
  return (await unwrapData(picket.createIncident({ body: { title: 'Payments fail', status } }))).id
}

t.test('POST /incidents/{id}/updates 201 sets the status and publishes an event', async t => {
  const account = await api.account()
  const id = await open(account)
  const { status, body } = await account.call(`POST /incidents/${id}/updates`, {
    message: 'Found it.',
    status: 'identified',
    is_internal: false,
  })
  t.equal(status, 201)
  const { id: updateId, created_at } = body.data
  const update = {
    id: updateId,
    status: 'identified',
    message: 'Found it.',
    is_internal: false,
    author_id: account.userId,
    created_at,
  }
  t.same(body.data, { ...update, incident_id: id, updated_at: created_at })
  const incident = (await account.call(`GET /incidents/${id}`)).body.data
  t.match(incident, { status: 'identified', message: 'Found it.', updated_at: created_at, resolved_at: null })
  t.equal(await listEventNames(id), 'created updated')
  t.same((await listEvents(id))[1]?.data.update, { ...update, is_automatic: false })
})

t.test(
  'POST /incidents/{id}/updates 201 without a status sets investigating, and publishes an event even without a change',
  async t => {
    const account = await api.account()
    const id = await open(account, 'monitoring')
    const path = { id }
    const post = (message: string) => unwrapData(account.picket.createIncidentUpdate({ path, body: { message } }))
    t.match(await post('It is back.'), { status: 'investigating', is_internal: false })
    await post('Still looking.')
    t.equal((await unwrapData(account.picket.readIncident({ path }))).status, 'investigating')
    t.equal(await listEventNames(id), 'created updated updated')
  },
)

t.test('POST /incidents/{id}/updates 201: a resolved incident stays resolved unless a status reopens it', async t => {
  const account = await api.account()
  const id = await open(account)
  type Body = CreateIncidentUpdateData['body']
  const post = (body: Body) => unwrapData(account.picket.createIncidentUpdate({ path: { id }, body }))
  const read = () => unwrapData(account.picket.readIncident({ path: { id } }))
  t.equal((await post({ message: 'Fixed.', status: 'resolved' })).status, 'resolved')
  const { resolved_at } = await read()
  t.ok(resolved_at)
  t.equal((await post({ message: 'The report follows.' })).status, 'resolved')
  t.equal((await post({ message: 'The report.', status: 'resolved' })).status, 'resolved')
  t.match(await read(), { status: 'resolved', resolved_at }, 'since the first time')
  await post({ message: 'It came back.', status: 'investigating' })
  t.match(await read(), { status: 'investigating', resolved_at: null })
  await post({ message: 'Gone for good.', status: 'resolved' })
  t.equal(await listEventNames(id), 'created resolved updated updated updated resolved')
})

t.test(
  'POST /incidents/{id}/updates 201: internal updates reach the project’s channels, marked as internal',
  async t => {
    const account = await api.account()
    const id = await open(account)
    const { body } = await account.call(`POST /incidents/${id}/updates`, { message: 'It is Bob.', is_internal: true })
    t.equal(body.data.is_internal, true)
    t.match((await listEvents(id))[1], {
      name: 'incident.updated',
      data: { update: { message: 'It is Bob.', is_internal: true } },
    })
  },
)

t.test('POST /incidents/{id}/updates 400, 403 and 404, in this order', async t => {
  const account = await api.account()
  const id = await open(account)
  const read = await account.callWith('read')
  t.equal((await read(`POST /incidents/${MISSING_ID}/updates`, {})).status, 403)
  const bodies = [
    {},
    { message: '' },
    { message: null },
    { message: 'x'.repeat(10_001) },
    { message: 'x', status: 'open' },
    { message: 'x', is_internal: 'yes' },
    { message: 'x', severity: 'major' },
  ]
  for (const body of bodies) {
    t.equal(
      (await account.call(`POST /incidents/${MISSING_ID}/updates`, body)).status,
      400,
      JSON.stringify(body).slice(0, 60),
    )
  }
  const other = await api.account()
  t.equal((await other.call(`POST /incidents/${id}/updates`, { message: 'x' })).status, 404)
  t.equal((await account.call(`POST /incidents/${MISSING_ID}/updates`, { message: 'x' })).status, 404)
  t.equal((await account.call('POST /incidents/not-an-id/updates', { message: 'x' })).status, 404)
  t.equal(await listEventNames(id), 'created')
})

t.test('GET /incidents/{id}/updates 200 lists updates newest first, in pages; 404 for an unknown incident', async t => {
  const account = await api.account()
  const id = await open(account)
  for (const message of ['one', 'two', 'three']) {
    await account.call(`POST /incidents/${id}/updates`, { message, is_internal: message === 'two' })
  }
  const listed = await unwrapAnswer(account.picket.listIncidentUpdates({ path: { id }, query: { per_page: 2 } }))
  t.same(
    listed.data.map(({ message }) => message),
    ['three', 'two'],
  )
  t.same(listed.meta, { page: 1, per_page: 2, total: 3, total_pages: 2 })
  t.equal((await account.call(`GET /incidents/${id}/updates?status=resolved`)).status, 400)
  const other = await api.account()
  t.equal((await other.call(`GET /incidents/${id}/updates`)).status, 404)
  t.equal((await account.call('GET /incidents/not-an-id/updates')).status, 404)
})

t.test('Concurrent updates are all stored, and the last one is the message of the incident', async t => {
  const account = await api.account()
  const id = await open(account)
  const wanted = ['identified', 'monitoring', 'resolved', 'resolved', 'resolved', 'identified']
  const answers = await Promise.all(
    wanted.map(status => account.call(`POST /incidents/${id}/updates`, { message: status, status })),
  )
  t.ok(answers.every(({ status }) => status === 201))
  const { data } = await unwrapAnswer(account.picket.listIncidentUpdates({ path: { id } }))
  t.equal(data.length, wanted.length)
  t.equal((await unwrapData(account.picket.readIncident({ path: { id } }))).status, data[0]?.status)
  const events = (await listEvents(id)).slice(1)
  t.same(
    events.map(({ data }) => data.update.status),
    data.map(({ status }) => status).reverse(),
    'published in the order in which they were stored',
  )
  const statuses = ['investigating', ...events.map(({ data }) => data.update.status)]
  const becameResolved = statuses.filter((status, i) => status === 'resolved' && statuses[i - 1] !== 'resolved')
  t.equal(events.filter(({ name }) => name === 'incident.resolved').length, becameResolved.length, 'resolved once each')
})

t.test('A request that is repeated with one idempotency key posts one update and publishes one event', async t => {
  const account = await api.account()
  const id = await open(account)
  const headers = { 'Idempotency-Key': 'post-once' }
  const post = () => account.call(`POST /incidents/${id}/updates`, { message: 'Found it.' }, headers)
  const first = await post()
  t.same((await post()).body, first.body)
  t.equal(await listEventNames(id), 'created updated')
})
