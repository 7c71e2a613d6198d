import t from 'tap'
import { shareApi } from '../support/api-server.ts'

const api = await shareApi()
const account = await api.tenant()
const writeKey = await api.createKey(account, 'write')

const put = (path: string, body: object, key = writeKey) => api.call('PUT', path, { key, body })
const REFUSED = { status: 403, body: { error: { code: 'insufficient_scope' } } }

async function create(path: string, body: object): Promise<string> {
  const answer = await api.call('POST', path, { key: account.key, body })
  t.equal(answer.status, 201)
  return `${path}/${answer.body.data.id}`
}

const monitor = (more: object = {}) =>
  create('/monitors', { name: 'A', type: 'http', url: 'http://shop.example.com/a', ...more })
const withAuth = { auth_type: 'bearer', auth_config: { token: 'hush' } }
const withHeader = { headers: { 'X-Api-Key': 'hush', Accept: '*/*' } }

t.test('A write key cannot send stored secrets of a monitor to another origin: 403 names them', async t => {
  const elsewhere = [
    'https://evil.example.com/a',
    'http://shop.example.com:8080/a',
    'http://shop.example.com.evil.example/a',
  ]
  for (const secrets of [withAuth, withHeader]) {
    const path = await monitor(secrets)
    for (const url of elsewhere) {
      const answer = await put(path, { url })
      t.match(answer, REFUSED, url)
      t.match(answer.body.error.message, secrets === withAuth ? /auth_config/ : /headers\.X-Api-Key/)
      t.match(await put(path, { url, headers: { 'x-api-key': '********' } }), {
        status: secrets === withAuth ? 400 : 403,
      })
    }
    t.equal((await put(path, { url: null })).status, 200)
    t.match(await put(path, { url: elsewhere[0] }), REFUSED, 'nor by way of no address')
    t.match(await put(path, { url: 'evil.example.com', type: 'ping' }), REFUSED, 'nor by way of another type')
    t.match(await api.call('GET', path, { key: account.key }), { body: { data: { url: null, type: 'http' } } })
  }
})

t.test('A write key may move a monitor within its origin, to TLS, and anywhere with new secrets or none', async t => {
  const path = await monitor({ ...withAuth, ...withHeader })
  t.equal((await put(path, { url: 'http://shop.example.com/b?c=d' })).status, 200)
  t.equal((await put(path, { url: 'https://SHOP.example.com/b' })).status, 200)
  t.match(await put(path, { url: 'http://shop.example.com/b' }), REFUSED, 'but not back to clear text')
  t.equal((await put(`${path}/auth`, { auth_type: null, auth_config: null })).status, 200)
  t.match(await put(path, { url: 'https://new.example.com' }), REFUSED, 'the header is still there')
  const own = { url: 'https://new.example.com', headers: { 'X-Api-Key': 'of the new shop' } }
  t.equal((await put(path, own)).status, 200)
  t.equal((await put(path, { url: 'https://newer.example.com', headers: null })).status, 200)
  t.equal((await put(await monitor({ headers: { Accept: '*/*' } }), { url: 'https://new.example.com' })).status, 200)
})

t.test('The error names the way for a write key to move a monitor with stored secrets, and it works', async t => {
  const path = await monitor({ ...withAuth, ...withHeader })
  const url = 'https://new.example.com'
  const refusal = await put(path, { url })
  t.equal(
    refusal.body.error.message,
    'this would send the stored auth_config, headers.X-Api-Key to another origin, which needs an admin key; ' +
      'clear auth_config with nulls by PUT /monitors/{id}/auth, and set it again after this change; ' +
      'send headers.X-Api-Key again in this request, or headers without it',
  )
  t.equal((await put(`${path}/auth`, { auth_type: null, auth_config: null })).status, 200)
  t.equal((await put(path, { url, headers: { 'X-Api-Key': 'of the new shop' } })).status, 200)
  t.equal((await put(`${path}/auth`, withAuth)).status, 200)
  t.match(await api.call('GET', path, { key: account.key }), {
    body: { data: { url, auth_config: { token: '********' }, headers: { 'X-Api-Key': '********' } } },
  })
})

t.test('An admin key may move a monitor together with its secrets', async t => {
  const path = await monitor({ ...withAuth, ...withHeader })
  const moved = await put(path, { url: 'https://new.example.com' }, account.key)
  t.match(moved, {
    status: 200,
    body: { data: { auth_config: { token: '********' }, headers: { 'X-Api-Key': '********' } } },
  })
})

t.test('A write key cannot send stored headers of a channel to another origin; an admin key can', async t => {
  const config = { url: 'https://hooks.example.com/a', headers: { Authorization: 'hush', 'X-Team': 'ops' } }
  const path = await create('/alerts/channels', { name: 'Hook', type: 'webhook', config })
  const masked = { Authorization: '********' }
  const moved = { config: { url: 'https://evil.example.com', headers: masked } }
  t.match(await put(path, moved), REFUSED)
  t.match((await put(path, moved)).body.error.message, /config\.headers\.Authorization/)
  t.equal((await put(path, { config: { url: 'https://hooks.example.com/b', headers: masked } })).status, 200)
  const own = { url: 'https://other.example.com', headers: { Authorization: 'of my own' } }
  t.equal((await put(path, { config: own })).status, 200)
  t.equal((await put(path, { config: { url: 'https://third.example.com' } })).status, 200, 'or with none')
  t.equal((await put(path, { config: own })).status, 200)
  t.equal((await put(path, moved, account.key)).status, 200)
})

t.test(
  'Secrets in the free-form config of a channel are masked in reads and kept when masks are sent back',
  async t => {
    const config = {
      url: 'https://hooks.example.com/a',
      token: 'hush',
      auth: { user: 'a' },
      note: 'for the night shift',
    }
    const path = await create('/alerts/channels', { name: 'Hook', type: 'webhook', config })
    const { body } = await api.call('GET', path, { key: writeKey })
    t.same(body.data.config, { ...config, token: '********', auth: '********' })
    t.equal((await put(path, { config: body.data.config })).status, 200)
    t.match(await put(path, { config: { url: config.url, password: '********' } }), {
      status: 400,
      body: { error: { details: [{ path: 'config.password' }] } },
    })
  },
)

t.test('Headers with secrets are masked under every known name', async t => {
  const names = [
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'X-Api-Key',
    'apikey',
    'X-Auth-Token',
    'X-Session-Id',
    'X-Passwd',
    'X-Amz-Signature',
    'X-JWT',
    'X-Vault-Token',
    'X-Pwd',
    'Private-Bearer',
  ]
  const path = await monitor({ headers: Object.fromEntries(names.map(name => [name, 'hush'])) })
  const { body } = await api.call('GET', path, { key: writeKey })
  t.same(body.data.headers, Object.fromEntries(names.map(name => [name, '********'])))
})
