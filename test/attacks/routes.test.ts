import { randomBytes } from 'node:crypto'
import t from 'tap'
import { encryptAddress } from '../../control-plane/alerting/deliveries/rendering/encrypted-address.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { buildBody, CHANNEL, MONITOR, SOURCE } from '../support/bodies.ts'
import { type Operation, POSTED_READS, readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { buildAddress, createRecords, type Records } from '../support/records.ts'
import { readTables } from '../support/stored.ts'

// Tables over the operations of the OpenAPI document, which include new routes automatically.

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The secrets of a tenant, to find them in every output. */
const NEEDLES = {
  'the token of a check': 'needle-auth-of-monitor',
  'a header of a check': 'needle-header-of-monitor',
  'the key of a data source': 'needle-auth-of-source',
  'a header of a data source': 'needle-header-of-source',
  'a header of a webhook': 'needle-header-of-channel',
}
const ADDRESS = 'needle-address-of-channel'

const secretKey = randomBytes(32)
const limits = { RATE_LIMIT_PER_MINUTE: '1000000', TESTS_PER_MINUTE: '1000000' }
const api = await startApi(t, { ...limits, SECRET_KEY: secretKey.toString('base64') })
const { operations } = await readOperations(api)
const closed = operations.filter(({ isOpen }) => !isOpen)

const victim = await api.tenant('business')
const records = await createRecords(api, victim)
const [read, write] = [await api.createKey(victim, 'read'), await api.createKey(victim, 'write')]
const signingSecret = await addSecrets(api, victim.key, records)
const heartbeat = (
  await api.call('POST', '/monitors', { key: victim.key, body: { name: 'Backup', type: 'heartbeat' } })
).body.data
const [pingToken = ''] = heartbeat.ping_url.split('/').slice(-1)
const other = await api.tenant('business')
const ofOther = await createRecords(api, other)

/** Stores a unique secret in every place of a record that can contain one. Returns the signing secret of the channel. */
async function addSecrets(api: ApiServer, key: string, ids: Records): Promise<string> {
  const change = async (path: string, body: object) => {
    const { status } = await api.call('PUT', path, { key, body })
    if (status !== 200) throw new Error(`${path} answered ${status}`)
  }
  await change(`/monitors/${ids.monitor_id}`, { headers: { Authorization: NEEDLES['a header of a check'] } })
  const auth = { auth_type: MONITOR.auth_type, auth_config: { token: NEEDLES['the token of a check'] } }
  await change(`/monitors/${ids.monitor_id}/auth`, auth)
  await change(`/data-sources/${ids.data_source_id}`, {
    headers: { Authorization: NEEDLES['a header of a data source'] },
    auth_type: SOURCE.auth_type,
    auth_config: { ...SOURCE.auth_config, value: NEEDLES['the key of a data source'] },
  })
  const headers = { Authorization: NEEDLES['a header of a webhook'] }
  const config = { ...CHANNEL.config, headers, url: `https://hooks.example.com/${ADDRESS}?token=${ADDRESS}` }
  await change(`/alerts/channels/${ids.alert_channel_id}`, { config })
  // as the delivery worker does, which does not run here
  const encrypted = encryptAddress(
    config.url,
    { id: ids.log_id, projectId: victim.projectId },
    createSecretCipher(secretKey),
  )
  await execute(api.db, 'UPDATE deliveries SET request_address = ? WHERE id = ?', [encrypted, ids.log_id])
  const rotated = await api.call('POST', `/alerts/channels/${ids.alert_channel_id}/rotate-secret`, { key })
  return rotated.body.data.signing_secret
}

const FORBIDDEN_BELOW_ADMIN = { read: 403, write: 403, admin: 200 }
const FORBIDDEN = { read: 403, write: 403, admin: 403 }
/** Reads that do not answer 200 to every key of the owner, and the reason. */
const OTHER_STATUSES: Record<string, Record<'read' | 'write' | 'admin', number>> = {
  // of the whole installation: for keys of the operator project
  '/probes': FORBIDDEN,
  // permissions: for admins
  '/members': FORBIDDEN_BELOW_ADMIN,
  '/api-keys': FORBIDDEN_BELOW_ADMIN,
  '/audit-log': FORBIDDEN_BELOW_ADMIN,
  // redirects to the chat service
  '/chat/oauth/install': { read: 302, write: 302, admin: 302 },
  // the team of the record has removed the app
  '/chat/installations/{id}/channels': { read: 409, write: 409, admin: 409 },
}

const paths = [...new Set(closed.map(({ path }) => path))]

/** Every method on every path, also undocumented ones, with the body of the documented method. */
function attempts(ids: Records, methods: string[] = METHODS) {
  return paths.flatMap(path =>
    methods.map(method => {
      const known = closed.find(one => one.path === path && one.method === method)
      const any = known ?? closed.find(one => one.path === path)!
      const body = known?.body ? { body: buildBody(known, ids) } : {}
      return { name: `${method} ${path}`, method, path, any, isKnown: known !== undefined, sent: body }
    }),
  )
}

t.test('A record of another tenant is 404 with every method and does not change', async t => {
  const before = await readTables(api.db)
  const withId = attempts(ofOther).filter(({ path }) => path.includes('{id}'))
  t.ok(withId.length > 200)
  for (const { name, method, any, sent } of withId) {
    const { status } = await api.call(method, buildAddress(any, records), { key: other.key, ...sent })
    t.equal(status, 404, name)
  }
  t.same(await readTables(api.db), before)
})

t.test('A read key changes nothing with any request', async t => {
  const before = await readTables(api.db)
  const writes = METHODS.filter(method => !['GET', 'HEAD'].includes(method))
  for (const { name, method, any, isKnown, sent } of attempts(records, writes)) {
    const { status } = await api.call(method, buildAddress(any, records), { key: read, ...sent })
    // a path that is not an operation may match a route with the word as an id
    t.ok(POSTED_READS.includes(name) || status === 403 || (status === 404 && !isKnown), `${name}: ${status}`)
  }
  t.same(await readTables(api.db), before)
})

t.test('No read returns a stored secret to a key of any scope', async t => {
  const secrets = { ...NEEDLES, 'the signing secret': signingSecret, 'an API key': write }
  const reads = closed.filter(({ method }) => method === 'GET')
  t.ok(reads.length > 40)
  for (const operation of reads) {
    for (const [scope, key] of Object.entries({ read, write, admin: victim.key })) {
      const { status, headers, body } = await api.call('GET', buildAddress(operation, records), { key })
      const expected = OTHER_STATUSES[operation.path]?.[scope as 'read' | 'write' | 'admin'] ?? 200
      t.equal(status, expected, `${operation.name} with a key of scope ${scope}`)
      const text = JSON.stringify([body, ...headers])
      for (const [what, secret] of Object.entries(secrets)) {
        t.notOk(text.includes(secret), `${operation.name} shows ${what}`)
      }
      if (key !== read) continue
      t.notOk(text.includes(ADDRESS), `${operation.name} shows the address of a webhook`)
      t.notOk(text.includes(pingToken), `${operation.name} shows a ping URL`)
    }
  }
  const channel = await api.call('GET', `/alerts/channels/${records.alert_channel_id}`, { key: write })
  t.match(channel.body.data.config.url, ADDRESS, 'the address is there to be found')
  const entry = await api.call('GET', `/alerts/log/${records.log_id}`, { key: write })
  t.match(entry.body.data.request_url, ADDRESS, 'in the log too')
  t.ok(pingToken.length > 20)
})

/** Routes that answer without a key. A new entry is a route that anyone may use. */
const OPEN = ['GET /chat/oauth/callback', 'POST /agent/bootstrap']

t.test('Without a key only open routes of the API answer, with every method', async t => {
  const open = operations.filter(({ isOpen }) => isOpen).map(({ name }) => name)
  t.same(open.sort(), OPEN)
  const before = await readTables(api.db)
  for (const { name, method, any, sent } of attempts(records)) {
    const { status } = await api.call(method, buildAddress(any, records), { key: null, ...sent })
    t.equal(status, 401, name)
  }
  t.same(await readTables(api.db), before)
})

t.test('Every route refuses a body that is too large, too deep or has too many values, and stores nothing', async t => {
  // keys of the operator project reach the bodies of all routes; for known keys the API remembers for seconds that they are not
  await makeOperator(api.db, victim)
  const operatorKey = await api.createKey(victim, 'admin')
  const before = await readTables(api.db)
  const hostile: [string, string][] = [
    ['more than 1 MiB', JSON.stringify({ name: 'x'.repeat(1_100_000) })],
    ['a depth of 100,000', `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['100,000 values', JSON.stringify({ name: Array.from({ length: 100_000 }, () => 1) })],
    ['100,000 names', `{${Array.from({ length: 100_000 }, (_, i) => `"n${i}":1`).join()}}`],
    ['a number without an end', `{"name":${'9'.repeat(100_000)}}`],
    ['no JSON', '{"name":'],
  ]
  const withBody = operations.filter(({ body }) => body !== null)
  t.ok(withBody.length > 25)
  for (const operation of withBody) {
    for (const [what, body] of hostile) {
      const key = operation.isOpen ? null : operatorKey
      const { status } = await api.call(operation.method, buildAddress(operation, records), { key, body })
      // 429: further bodies of this network to an open route are refused for a while
      t.ok(
        status === 400 || status === 413 || (operation.isOpen && status === 429),
        `${operation.name} ${what}: ${status}`,
      )
    }
  }
  t.same(await readTables(api.db), before)
})

// last, because it changes and deletes the records
t.test('The owner of a record does not get the 404 of other tenants', async t => {
  const depth = (path: string) => path.split('/').length
  // nested records are deleted before their parent
  const deletes = (one: Operation, other: Operation) =>
    depth(other.path) - depth(one.path) || other.path.localeCompare(one.path)
  const withId = closed.filter(({ path }) => path.includes('{id}'))
  const isDelete = ({ method }: Operation) => method === 'DELETE'
  const inOrder = [...withId.filter(one => !isDelete(one)), ...withId.filter(isDelete).sort(deletes)]
  t.ok(inOrder.length > 70)
  for (const operation of inOrder) {
    const sent = operation.body ? { body: buildBody(operation, records) } : {}
    const { status, body } = await api.call(operation.method, buildAddress(operation, records), {
      key: victim.key,
      ...sent,
    })
    // the page exists and has no custom domain; its update removed the images
    const isOfPage = status === 404 && /^(custom domain|logo|favicon) not found$/.test(body.error.message)
    t.ok(status !== 404 || isOfPage, `${operation.name}: ${status} ${JSON.stringify(body)}`)
  }
})
