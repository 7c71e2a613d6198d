import t from 'tap'
import { startApi } from '../support/api-server.ts'

const api = await startApi(t, { TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8', PUBLIC_URL: 'https://picket.example/' })
let client = 0
/** an address without earlier requests */
const newIp = () => `203.0.113.${++client}`
const bootstrap = (body: unknown, ip: string) =>
  api.call('POST', '/agent/bootstrap', { key: null, body, headers: { 'x-forwarded-for': ip } })

t.test('POST /agent/bootstrap answers 201 with a key that works immediately', async t => {
  const { status, body } = await bootstrap({ email: 'Ann@Example.com', name: 'Ann' }, newIp())
  t.equal(status, 201)
  const { data } = body
  t.same(Object.keys(data).sort(), [
    'api_key',
    'claim_expires_in',
    'claim_url',
    'dashboard_url',
    'email',
    'message',
    'organization_id',
    'user_id',
  ])
  t.ok(Object.values(data).every(value => typeof value === 'string'))
  t.equal(data.email, 'ann@example.com')
  t.equal(data.claim_expires_in, '72h')
  t.match(data.claim_url, /^https:\/\/picket\.example\/claim\/[\w-]{43}$/)
  t.equal(data.dashboard_url, 'https://picket.example/')
  const project = await api.call('GET', '/project', { key: data.api_key })
  t.match(project.body.data, {
    plan: 'free',
    limits: { monitors: { limit: 50, used: 0 }, members: { limit: 3, used: 1 } },
  })
  t.equal((await api.call('GET', '/api-keys', { key: data.api_key })).status, 200, 'the key is an admin key')
  const claims = await api.db('claim_links').where({ user_id: data.user_id })
  t.equal(claims.length, 1)
  t.notMatch(JSON.stringify(claims), data.claim_url.split('/').at(-1), 'the claim link is hashed at rest')
})

t.test('POST /agent/bootstrap answers 409 for a registered address, in upper and lower case', async t => {
  t.equal((await bootstrap({ email: 'bob@example.com' }, newIp())).status, 201)
  const again = await bootstrap({ email: 'BOB@example.com' }, newIp())
  t.match(again, { status: 409, body: { error: { code: 'conflict' } } })
})

t.test('POST /agent/bootstrap answers 409 to all but one of concurrent requests for an address', async t => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => bootstrap({ email: 'race@example.com' }, newIp())))
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
})

t.test('POST /agent/bootstrap answers 429 to the fourth account from an address in an hour', async t => {
  const ip = newIp()
  for (const n of [1, 2, 3]) t.equal((await bootstrap({ email: `third${n}@example.com` }, ip)).status, 201)
  const fourth = await bootstrap({ email: 'third4@example.com' }, ip)
  t.match(fourth, { status: 429, body: { error: { code: 'rate_limited' } } })
  const waitSeconds = Number(fourth.headers.get('retry-after'))
  t.ok(waitSeconds > 3_500 && waitSeconds <= 3_600)
  t.equal((await bootstrap({ email: 'third4@example.com' }, newIp())).status, 201, 'other addresses are not limited')
  await api
    .db('bootstrap_attempts')
    .whereRaw('host(ip) = ?', [ip])
    .update({ at: new Date(Date.now() - 3_601_000) })
  t.equal((await bootstrap({ email: 'third5@example.com' }, ip)).status, 201, 'an hour later')
})

t.test('POST /agent/bootstrap creates at most 3 accounts for concurrent requests from an address', async t => {
  const ip = newIp()
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => bootstrap({ email: `storm${n}@example.com` }, ip)),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 3)
  t.equal(answers.filter(({ status }) => status === 429).length, 5)
})

t.test('Changes are made and recorded whatever address a proxy sends', async t => {
  const { key } = await api.tenant()
  for (const from of ['203.0.113.250:51000', '[2001:db8::7]:443', 'unknown']) {
    const { status } = await api.call('POST', '/api-keys', {
      ...{ key, body: { name: from, scope: 'read' }, headers: { 'x-forwarded-for': from } },
    })
    t.equal(status, 201, from)
  }
  const entries = (await api.call('GET', '/audit-log', { key })).body.data
  t.same(
    entries.slice(0, 3).map(({ actor }: { actor: { ip: string | null } }) => actor.ip),
    [null, '2001:db8::7', '203.0.113.250'],
  )
  const { data } = (await bootstrap({ email: 'port@example.com', name: 'Port' }, '203.0.113.251:51000')).body
  const [first] = (await api.call('GET', '/audit-log', { key: data.api_key })).body.data
  t.match(first, { action: 'created', resource_name: 'Port', actor: { name: 'port@example.com', ip: '203.0.113.251' } })
})

t.test('POST /agent/bootstrap answers 429 after 20 refused attempts, which do not count as accounts', async t => {
  const ip = newIp()
  const wrong = [{ email: 'nobody' }, { email: 'bob@example.com' }, { email: 'x@example.com', role: 'admin' }, {}, '{']
  for (let n = 0; n < 20; n++) {
    const { status } = await bootstrap(wrong[n % wrong.length], ip)
    t.ok(status === 400 || status === 409, `${status}`)
  }
  t.equal((await bootstrap({ email: 'nobody' }, ip)).status, 429)
  const other = newIp()
  for (let n = 0; n < 5; n++) await bootstrap({ email: 'nobody' }, other)
  t.equal((await bootstrap({ email: 'after-refusals@example.com' }, other)).status, 201)
})

t.test('POST /agent/bootstrap counts the nearest address that is not a trusted proxy', async t => {
  const [ip, invented] = [newIp(), () => `198.51.100.${++client}`]
  for (const n of [1, 2, 3]) await bootstrap({ email: `proxy${n}@example.com` }, `${invented()}, ${ip}, 10.1.2.3`)
  t.equal((await bootstrap({ email: 'proxy4@example.com' }, `${invented()}, ${ip}`)).status, 429)
  t.equal(
    (await bootstrap({ email: 'proxy5@example.com' }, 'not an address')).status,
    201,
    'an invalid address counts as the peer',
  )
})

t.test('POST /agent/bootstrap ignores X-Forwarded-For without trusted proxies', async t => {
  const plain = await startApi(t)
  const statuses = []
  for (const n of [1, 2, 3, 4]) {
    const headers = { 'x-forwarded-for': newIp() }
    const body = { email: `plain${n}@example.com` }
    statuses.push((await plain.call('POST', '/agent/bootstrap', { key: null, body, headers })).status)
  }
  t.same(statuses, [201, 201, 201, 429])
})

t.test('POST /agent/bootstrap ignores an Idempotency-Key', async t => {
  const [ip, headers] = [newIp(), { 'idempotency-key': 'same' }]
  const send = () =>
    api.call('POST', '/agent/bootstrap', {
      key: null,
      body: { email: 'keyed@example.com' },
      headers: { ...headers, 'x-forwarded-for': ip },
    })
  t.equal((await send()).status, 201)
  t.equal((await send()).status, 409)
})
