import { randomBytes } from 'node:crypto'
import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const PATH = '/hooks/T0123-PATH-SECRET'
const TOKEN = 'A-SECRET-IN-THE-QUERY'
const env = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
  SECRET_KEY: randomBytes(32).toString('base64'),
  ROLES: 'api,deliver',
}
const receiver = await startReceiver(t)
const address = `${new URL(receiver.url).origin}${PATH}?token=${TOKEN}&more=1`
const masked = `${new URL(receiver.url).origin}/********`
receiver.always({ status: 404, body: `Cannot POST ${PATH}?token=${TOKEN}&more=1 (token ${TOKEN})` })

const api = await startApi(t, env)
const tenant = await api.tenant('business')
const { key } = tenant
const [read, write] = [await api.createKey(tenant, 'read'), await api.createKey(tenant, 'write')]
const body = { name: 'Hook', type: 'webhook', config: { url: address } }
const channel = (await api.call('POST', '/alerts/channels', { key, body })).body.data
const log = async (id: string, as = write) => (await api.call('GET', `/alerts/log/${id}`, { key: as })).body.data
const waitForEnd = (id: string, attempts: number) =>
  waitFor(async () => {
    const entry = await log(id)
    return entry.status === 'failed' && entry.attempts.length === attempts ? entry : null
  })
const delivery = (await api.call('POST', `/alerts/channels/${channel.id}/test`, { key })).body.data
const failed = await waitForEnd(delivery.id, 1)

t.test('A read key sees the host of a webhook, and none of the secrets in its address', async t => {
  const paths = [
    '/alerts/channels',
    `/alerts/channels/${channel.id}`,
    '/alerts/log',
    `/alerts/log/${delivery.id}`,
    '/alerts/relay',
    '/export?format=json',
    '/export',
    '/project',
  ]
  for (const path of paths) {
    const { status, body } = await api.call('GET', path, { key: read })
    t.equal(status, 200, path)
    for (const secret of [PATH, TOKEN, 'PATH-SECRET']) t.notMatch(JSON.stringify(body), secret, `${path} ${secret}`)
  }
  const { data } = (await api.call('GET', `/alerts/channels/${channel.id}`, { key: read })).body
  t.equal(data.config.url, masked)
  t.equal((await log(delivery.id, read)).request_url, masked)
  for (const as of [write, key]) {
    const whole = (await api.call('GET', `/alerts/channels/${channel.id}`, { key: as })).body.data
    t.equal(whole.config.url, address)
  }
  t.equal(failed.request_url, address, 'a caller that can change the channel sees the address of a delivery')
  t.match(failed.attempts[0].response_snippet, PATH)
})

t.test('A masked address that is sent back keeps the stored one, and is refused for another host', async t => {
  const change = (url: string) =>
    api.call('PUT', `/alerts/channels/${channel.id}`, { key: write, body: { config: { url } } })
  const kept = await change(masked)
  t.equal(kept.status, 200)
  t.equal(kept.body.data.config.url, address)
  const other = await change('https://hooks.example.com/********')
  t.match(other, { status: 400, body: { error: { details: [{ path: 'config.url' }] } } })
})

const stored = async () => {
  const sql = 'SELECT request_url, request_address, d::text AS all FROM deliveries d WHERE id = ?'
  const [row] = await query<{ request_url: string | null; request_address: Buffer | null; all: string }>(api.db, sql, [
    delivery.id,
  ])
  return row!
}

t.test(
  'The address of a delivery is encrypted in the database, also for deliveries of the previous version',
  async t => {
    const before = await stored()
    t.equal(before.request_url, null)
    t.notMatch(before.request_address?.toString('latin1'), TOKEN)
    t.notMatch(before.all, TOKEN, 'nor is the query kept where the receiver repeated it')
    const old = 'UPDATE deliveries SET request_url = ?, request_address = NULL WHERE id = ?'
    await execute(api.db, old, [address, delivery.id])
    t.equal((await log(delivery.id)).request_url, address, 'an old row is shown until it is sealed')
    t.equal((await log(delivery.id, read)).request_url, masked)

    await startApi(t, env)
    await waitFor(async () => (await stored()).request_url === null, { label: 'a process that starts seals it' })
    t.notMatch((await stored()).request_address?.toString('latin1'), TOKEN)
    t.equal((await log(delivery.id)).request_url, address)
  },
)

t.test('A replay sends the same body to the same address', async t => {
  const [first] = receiver.received
  const replay = await api.call('POST', `/alerts/log/${delivery.id}/retry`, { key: write })
  t.equal(replay.status, 200)
  await waitForEnd(delivery.id, 2)
  const [, second] = receiver.received
  t.equal(second?.path, `${PATH}?token=${TOKEN}&more=1`)
  t.equal(second?.path, first?.path)
  t.equal(second?.rawBody, first?.rawBody)
})

t.test(
  'An address that cannot be decrypted is returned as null, and other entries of the log are returned',
  async t => {
    await execute(api.db, "UPDATE deliveries SET request_address = decode('00', 'hex') WHERE id = ?", [delivery.id])
    const { status, body } = await api.call('GET', '/alerts/log', { key: write })
    t.equal(status, 200)
    const entries = body.data as { id: string; request_url: string | null }[]
    t.equal(entries.find(({ id }) => id === delivery.id)?.request_url, null)
  },
)
