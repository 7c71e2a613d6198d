import t from 'tap'
import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'
import { randomToken } from '../../control-plane/foundation/platform/ids.ts'
import { startApi } from '../support/api-server.ts'
import { sendRequest } from '../support/http-client.ts'
import { createPerson } from '../support/person.ts'

const api = await startApi(t)
const person = await createPerson(api, 'owner@example.com')

type Sent = { method?: string; headers?: Record<string, string>; body?: object; cookie?: string | null }

/** Sends a request as a page of this installation would, unless `headers` say otherwise. */
async function send(path: string, { method = 'GET', headers, body, cookie = person.cookie }: Sent = {}) {
  const answer = await sendRequest(api.origin + path, {
    method,
    headers: {
      ...(cookie !== null && { cookie }),
      ...(body && { 'content-type': 'application/json' }),
      ...(headers ?? { origin: api.origin }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: answer.text.startsWith('{') ? JSON.parse(answer.text) : answer.text }
}

const MONITOR = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', regions: ['eu-west'] }

t.test('A signed-in person reads and changes the project below /session/api/v1', async t => {
  const me = (await send('/session/api/v1/me')).body.data
  t.match(me, { user: { email: 'owner@example.com' }, api_key: null, scope: 'admin', role: 'admin' })
  const created = await send('/session/api/v1/monitors', { method: 'POST', body: MONITOR })
  t.equal(created.status, 201)
  t.equal((await send(`/session/api/v1/monitors/${created.body.data.id}`)).body.data.name, 'Shop')
  const [entry] = (await send('/session/api/v1/audit-log')).body.data
  t.match(entry, { actor: { kind: 'user', name: 'owner@example.com' } }, 'the audit log names the person')
})

t.test('A session has no effect at /api/v1 or at another spelling of the bridge', async t => {
  for (const path of [
    '/api/v1/monitors',
    '/session/../api/v1/monitors',
    '/%73ession/api/v1/monitors',
    '/session%2Fapi/v1/monitors',
    '/session/%61pi/v1/monitors',
    '//session/api/v1/monitors',
    '/session/session/api/v1/monitors',
    '/session/api/v1',
  ]) {
    const { status } = await send(path)
    t.ok(status === 401 || status === 404, `${path} answers ${status}`)
  }
})

t.test('The bridge serves nothing but the API', async t => {
  for (const path of ['/session/api/v1/../../account', '/session/api/v1/%2e%2e/%2e%2e/account', '/session/docs'])
    t.equal((await send(path)).status, 404, path)
})

t.test('A request that changes something must come from a page of this installation', async t => {
  const foreign: Record<string, string>[] = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: api.origin, 'sec-fetch-site': 'cross-site' },
    { origin: api.origin, 'sec-fetch-site': 'same-site' },
    { referer: `${api.origin}/` },
  ]
  for (const headers of foreign) {
    const answer = await send('/session/api/v1/monitors', { method: 'POST', headers, body: MONITOR })
    t.equal(answer.status, 403, JSON.stringify(headers))
  }
  t.equal((await send('/session/api/v1/monitors')).body.meta.total, 1)
})

t.test('A link on a page of another site reads nothing through the bridge', async t => {
  for (const site of ['cross-site', 'same-site'])
    t.equal((await send('/session/api/v1/export', { headers: { 'sec-fetch-site': site } })).status, 403, site)
  for (const site of ['same-origin', 'none'])
    t.equal((await send('/session/api/v1/monitors', { headers: { 'sec-fetch-site': site } })).status, 200, site)
})

t.test('Without a session, with an ended one and with an API key the bridge answers 401', async t => {
  const tenant = await api.tenant()
  const refused = [
    await send('/session/api/v1/monitors', { cookie: null }),
    await send('/session/api/v1/monitors', { cookie: `${SESSION_COOKIE}=${'a'.repeat(43)}` }),
    await send('/session/api/v1/monitors', { cookie: null, headers: { authorization: `Bearer ${tenant.key}` } }),
    await send('/session/api/v1/monitors', { headers: { authorization: `Bearer ${tenant.key}` } }),
  ]
  t.same(
    refused.map(({ status, body }) => `${status} ${body.error.code}`),
    refused.map(() => '401 unauthorized'),
  )
})

t.test('A viewer reads, and the answer to a change names the role that it needs', async t => {
  const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: person })
  t.equal((await send('/session/api/v1/monitors', { cookie: viewer.cookie })).status, 200)
  const write = await send('/session/api/v1/monitors', { method: 'POST', body: MONITOR, cookie: viewer.cookie })
  t.match(write, { status: 403, body: { error: { message: 'this needs the role editor; your role is viewer' } } })
  const keys = await send('/session/api/v1/api-keys', { cookie: viewer.cookie })
  t.match(keys, { status: 403, body: { error: { message: 'this needs the role admin; your role is viewer' } } })

  const members = (await send('/session/api/v1/members')).body.data
  const { user_id: id } = members.find(({ email }: { email: string }) => email === 'viewer@example.com')
  t.equal((await send(`/session/api/v1/members/${id}`, { method: 'DELETE' })).status, 200)
  const removed = await send('/session/api/v1/monitors', { cookie: viewer.cookie })
  t.match(removed, { status: 403, body: { error: { message: 'your account has no access to an organization' } } })
})

t.test('A page changes nothing after its session became one of another organization or person', async t => {
  const { project, user } = (await send('/session/api/v1/me')).body.data
  const path = `/session/of/${project.id}/${user.id}/api/v1/monitors`
  t.equal((await send(path)).status, 200)
  const total = async () => (await send('/session/api/v1/monitors')).body.meta.total
  const before = await total()
  const another = '0190a0a0-0000-7000-8000-000000000001'
  for (const wrong of [path.replace(project.id, another), path.replace(user.id, another)])
    for (const request of [{}, { method: 'POST', body: MONITOR }])
      t.match(await send(wrong, request), { status: 409, body: { error: { code: 'other_session' } } }, wrong)
  t.equal((await send(path.replace(project.id, 'x'))).status, 404)
  t.equal((await send(path, { cookie: null })).status, 401)
  const foreign = { method: 'POST', body: MONITOR, headers: { origin: 'https://elsewhere.example' } }
  t.equal((await send(path, foreign)).status, 403)
  t.equal(await total(), before)
})

t.test('Records of another tenant are 404 through the bridge', async t => {
  const other = await api.tenant()
  const foreign = await api.call('POST', '/monitors', { key: other.key, body: MONITOR })
  const path = `/session/api/v1/monitors/${foreign.body.data.id}`
  t.equal((await send(path)).status, 404)
  t.equal((await send(path, { method: 'PUT', body: { name: 'Mine' } })).status, 404)
})

t.test('A session that ended creates neither keys nor members', async t => {
  const leaver = await createPerson(api, 'second@example.com', { role: 'admin', invitedBy: person })
  const key = await send('/session/api/v1/api-keys', {
    ...{ method: 'POST', body: { name: 'Deployments', scope: 'read' }, cookie: leaver.cookie },
  })
  t.equal(key.status, 201)
  await leaver.signOut()
  for (const [path, body] of [
    ['/session/api/v1/api-keys', { name: 'Late', scope: 'read' }],
    ['/session/api/v1/agent/invite', { email: 'third@example.com' }],
  ] as const)
    t.equal((await send(path, { method: 'POST', body, cookie: leaver.cookie })).status, 401, path)
})

t.test('A network that guesses sessions is refused; known sessions and the form to sign in still work', async t => {
  t.equal((await send('/session/api/v1/me')).status, 200)
  const guess = () => `${SESSION_COOKIE}=${randomToken(32)}`
  // more than any limit allows, also when a new minute begins meanwhile
  async function guessUntilRefused(path: string, usualStatus: number) {
    for (let n = 0; n < 3_000; n++) {
      const answer = await send(path, { cookie: guess() })
      if (answer.status !== usualStatus) return answer
    }
    return null
  }
  const refused = { status: 429, body: { error: { message: /more than 300 unknown sessions a minute/ } } }
  t.match(await guessUntilRefused('/session/api/v1/me', 401), refused)
  t.match(await guessUntilRefused('/account', 303), { status: 429 })
  t.match(await send('/sign-in', { cookie: guess() }), { status: 200, body: /type="password"/ })
  t.equal((await send('/session/api/v1/me')).status, 200, 'the session that was known before')
})
