import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { createPerson } from '../support/person.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
const owner = await createPerson(api, 'owner@example.com')
const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: owner })
const stranger = await createPerson(api, 'stranger@example.com')

/** Sends a request as a page of this installation does. */
const send = (person: { cookie: string }, method: string, path: string, body?: object) =>
  api.call(method, `${api.origin}/session/api/v1${path}`, {
    key: null,
    headers: { cookie: person.cookie, origin: api.origin },
    body,
  })
const create = async (person: { cookie: string }, body: object) =>
  (await send(person, 'POST', '/views', body)).body.data
const readNames = async (person: { cookie: string }) =>
  (await send(person, 'GET', '/views')).body.data.map(({ name }: { name: string }) => name)

t.test('POST /views 201: a view of a person is personal unless it is shared', async t => {
  const mine = await send(owner, 'POST', '/views', { name: 'Down now', query: 'is:down' })
  t.equal(mine.status, 201)
  t.match(mine.body.data, { name: 'Down now', query: 'is:down', is_shared: false })
  const shared = await create(owner, { name: 'Shop', query: 'tag:shop', is_shared: true })
  t.equal(shared.is_shared, true)
  t.same(await readNames(owner), ['Down now', 'Shop'])
  t.same(await readNames(viewer), ['Shop'], 'a personal view of another person is not listed')
  t.same(await readNames(stranger), [])
  t.same((await send(viewer, 'GET', `/views/${shared.id}`)).body.data, shared)
})

t.test('PUT /views/{id} 200 changes the given fields, and shares a personal view', async t => {
  const { id } = await create(owner, { name: 'Slow', query: 'is:degraded' })
  const renamed = await send(owner, 'PUT', `/views/${id}`, { name: 'Slow ones' })
  t.match(renamed, { status: 200, body: { data: { name: 'Slow ones', query: 'is:degraded', is_shared: false } } })
  t.equal((await send(viewer, 'GET', `/views/${id}`)).status, 404)
  t.equal((await send(owner, 'PUT', `/views/${id}`, { is_shared: true })).body.data.is_shared, true)
  t.equal((await send(viewer, 'GET', `/views/${id}`)).status, 200)
  t.equal((await send(owner, 'DELETE', `/views/${id}`)).status, 200)
  t.equal((await send(owner, 'GET', `/views/${id}`)).status, 404)
})

t.test('A viewer keeps personal views and gets 403 for shared ones', async t => {
  const own = await create(viewer, { name: 'Mine', query: 'tag:shop' })
  t.equal((await send(viewer, 'PUT', `/views/${own.id}`, { query: 'tag:mail' })).body.data.query, 'tag:mail')
  const shared = await create(owner, { name: 'For all', query: 'is:down', is_shared: true })
  for (const [method, path, body] of [
    ['POST', '/views', { name: 'Another', query: 'is:up', is_shared: true }],
    ['PUT', `/views/${own.id}`, { is_shared: true }],
    ['PUT', `/views/${shared.id}`, { name: 'Changed' }],
    ['PUT', `/views/${shared.id}`, { is_shared: false }],
    ['DELETE', `/views/${shared.id}`, undefined],
  ] as const) {
    const answer = await send(viewer, method, path, body)
    t.match(answer, { status: 403, body: { error: { code: 'insufficient_scope', message: /role editor/ } } })
  }
  t.match((await send(owner, 'GET', `/views/${shared.id}`)).body.data, { name: 'For all', is_shared: true })
  t.equal((await send(viewer, 'DELETE', `/views/${own.id}`)).status, 200)
})

t.test('A personal view of another person and a view of another project are 404', async t => {
  const mine = await create(owner, { name: 'Private', query: 'is:down' })
  const shared = await create(owner, { name: 'Public', query: 'is:down', is_shared: true })
  for (const [person, id] of [
    [viewer, mine.id],
    [stranger, mine.id],
    [stranger, shared.id],
  ] as const)
    for (const [method, body] of [['GET'], ['PUT', { name: 'Taken' }], ['DELETE']] as const)
      t.match(await send(person, method, `/views/${id}`, body), { status: 404, body: { error: { code: 'not_found' } } })
  t.equal((await api.call('GET', `/views/${mine.id}`, { key: owner.key })).status, 404, 'also for a key')
  t.equal((await send(owner, 'GET', `/views/${mine.id}`)).body.data.name, 'Private')
})

t.test('POST /views 409: a name is used once by an owner, in any case', async t => {
  await create(owner, { name: 'Checkout', query: 'tag:a' })
  const again = await send(owner, 'POST', '/views', { name: 'CHECKOUT', query: 'tag:b' })
  t.match(again, { status: 409, body: { error: { message: 'a personal view with this name exists' } } })
  t.equal((await send(owner, 'POST', '/views', { name: 'Checkout', query: 'tag:c', is_shared: true })).status, 201)
  const other = await create(owner, { name: 'Other', query: 'tag:d' })
  t.equal((await send(owner, 'PUT', `/views/${other.id}`, { name: 'checkout' })).status, 409)
  t.equal(
    (await send(owner, 'PUT', `/views/${other.id}`, { name: 'OTHER' })).status,
    200,
    'its own name in another case',
  )
})

t.test('POST /views 409: a person has at most 50 personal views, also with concurrent requests', async t => {
  const member = await createPerson(api, 'member@example.com', { role: 'viewer', invitedBy: owner })
  const answers = await Promise.all(
    Array.from({ length: 55 }, (_, i) => send(member, 'POST', '/views', { name: `View ${i}`, query: 'is:up' })),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 50)
  const refused = answers.filter(({ status }) => status !== 201)
  t.ok(refused.every(({ status, body }) => status === 409 && /at most 50 personal views/.test(body.error.message)))
})

t.test('POST /views by an API key is shared, and 400 for a personal view', async t => {
  const made = await api.call('POST', '/views', { key: stranger.key, body: { name: 'By key', query: 'is:down' } })
  t.match(made, { status: 201, body: { data: { is_shared: true } } })
  t.same(await readNames(stranger), ['By key'])
  const personal = { name: 'Mine', query: 'is:down', is_shared: false }
  const refused = await api.call('POST', '/views', { key: stranger.key, body: personal })
  t.match(refused, { status: 400, body: { error: { details: [{ path: 'is_shared' }] } } })
  const { id } = made.body.data
  t.equal((await api.call('PUT', `/views/${id}`, { key: stranger.key, body: { is_shared: false } })).status, 400)
  t.equal((await api.call('DELETE', `/views/${id}`, { key: stranger.key })).status, 200)
})

const readPreferences = async (person: { cookie: string }) => (await send(person, 'GET', '/me')).body.data.preferences

t.test('PUT /me/preferences 200 changes the given fields of the person, also of a viewer', async t => {
  t.same(await readPreferences(viewer), {
    ...{ theme: 'system', density: 'compact', keyboard_shortcuts: true, time_zone: null },
  })
  const dark = await send(viewer, 'PUT', '/me/preferences', { theme: 'dark', time_zone: 'Europe/Berlin' })
  const expected = { theme: 'dark', density: 'compact', keyboard_shortcuts: true, time_zone: 'Europe/Berlin' }
  t.match(dark, { status: 200, body: { data: expected } })
  t.same(await readPreferences(viewer), expected)
  t.same((await send(viewer, 'PUT', '/me/preferences', {})).body.data, expected)
  const rest = { density: 'comfortable', keyboard_shortcuts: false, time_zone: null }
  t.same((await send(viewer, 'PUT', '/me/preferences', rest)).body.data, { ...rest, theme: 'dark' })
  t.equal((await readPreferences(owner)).theme, 'system', 'another person keeps theirs')
})

t.test('PUT /me/preferences 400 names the field and what is accepted', async t => {
  for (const [body, path] of [
    [{ theme: 'blue' }, 'theme'],
    [{ density: 'tight' }, 'density'],
    [{ keyboard_shortcuts: 'no' }, 'keyboard_shortcuts'],
    [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ colour: 1 }, 'colour'],
  ] as const)
    t.match(await send(owner, 'PUT', '/me/preferences', body), {
      status: 400,
      body: { error: { details: [{ path }] } },
    })
})

t.test('An API key has no preferences: GET /me returns null, PUT /me/preferences answers 409', async t => {
  t.equal((await api.call('GET', '/me', { key: owner.key })).body.data.preferences, null)
  const refused = await api.call('PUT', '/me/preferences', { key: owner.key, body: { theme: 'dark' } })
  t.match(refused, { status: 409, body: { error: { code: 'conflict', message: /belong to a person/ } } })
})
