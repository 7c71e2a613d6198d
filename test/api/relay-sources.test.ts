import { randomBytes } from 'node:crypto'
import t from 'tap'
import { bindRelaySource } from '../../control-plane/alerting/routing/alert-channels/relay-source-store.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'
import { runWhileLocked } from '../support/while-held.ts'

const relay = await startReceiver(t)
const SECRET_KEY = randomBytes(32).toString('base64')
const api = await startApi(t, { ROLES: 'api,deliver', RELAY_URL: relay.url, SECRET_KEY })
const account = await api.tenant()
const writeKey = await api.createKey(account, 'write')
const url = 'https://hooks.example.com/picket'
const secret = { Authorization: 'Bearer A-SECRET-HOOK' }
const masked = { Authorization: '********' }
const REFUSED = { status: 403, body: { error: { code: 'insufficient_scope' } } }

const create = (config: object, key = account.key) =>
  api.call('POST', '/alerts/channels', { key, body: { name: 'Ops', type: 'webhook', config: { url, ...config } } })
const change = (id: string, config: object, key = writeKey) =>
  api.call('PUT', `/alerts/channels/${id}`, { key, body: { config: { url, headers: masked, ...config } } })

t.test('A write key cannot send stored headers to another source of the relay', async t => {
  const plain = (await create({ headers: secret })).body.data.id
  t.match(await change(plain, { relay_source_id: 'source-of-the-attacker' }), REFUSED)
  const relayed = (await create({ headers: secret, relay_source_id: 'own-source' })).body.data.id
  t.match(await change(relayed, { relay_source_id: 'source-of-the-attacker' }), REFUSED)
  t.match(await change(relayed, {}), REFUSED, 'nor past the relay')
  t.equal((await change(relayed, { relay_source_id: 'own-source' })).status, 200, 'the same one is not a change')
  t.equal((await change(plain, { relay_source_id: 'source-2', headers: { Authorization: 'Bearer own' } })).status, 200)
  t.equal((await change(relayed, { relay_source_id: 'source-3' }, account.key)).status, 200, 'an admin may')
  for (const id of [plain, relayed]) await api.call('POST', `/alerts/channels/${id}/test`, { key: account.key })
  const places = () => relay.received.map(({ path, headers }) => `${path} ${headers.authorization}`).sort()
  await waitFor(() => places().length === 2, { label: 'both tests' })
  t.same(places(), ['/hook/source-2 Bearer own', '/hook/source-3 Bearer A-SECRET-HOOK'])
})

t.test('A source of the relay belongs to one project, also after concurrent requests of two projects', async t => {
  const other = await api.tenant()
  await create({ relay_source_id: 'mine' })
  t.match(await create({ relay_source_id: 'mine' }, other.key), { status: 409, body: { error: { code: 'conflict' } } })
  t.equal((await create({ relay_source_id: 'mine' })).status, 201, 'its own project may use it again')
  const theirs = (await create({}, other.key)).body.data.id
  t.match(await change(theirs, { relay_source_id: 'mine', headers: {} }, other.key), { status: 409 })
  const channelId = (await create({})).body.data.id
  const source = { channelId, projectId: account.projectId, relaySourceId: 'new' }
  const late = await runWhileLocked(
    api.db,
    tx => bindRelaySource(tx, source, true),
    () => create({ relay_source_id: 'new' }, other.key),
  )
  t.equal(late.status, 409, 'it waits for the one that is being saved')
  const held = (await create({ relay_source_id: 'left' })).body.data.id
  await api.call('DELETE', `/alerts/channels/${held}`, { key: account.key })
  t.equal((await create({ relay_source_id: 'left' }, other.key)).status, 201, 'a deleted channel holds none')
  const freed = (await create({ relay_source_id: 'freed' })).body.data.id
  t.equal((await change(freed, { headers: {} }, account.key)).status, 200)
  t.equal((await create({ relay_source_id: 'freed' }, other.key)).status, 201, 'nor one that has no id any more')
})

t.test('A long import of a channel with a relay source does not block other projects with other sources', async t => {
  const other = await api.tenant()
  const { id: channelId } = (await create({})).body.data
  const db = createPostgres(api.databaseUrl, 2)
  t.teardown(() => db.destroy())
  const saving = await openTransaction(db)
  const source = { channelId, projectId: account.projectId, relaySourceId: 'of-a-long-import' }
  t.ok(await bindRelaySource(saving, source, true))
  t.equal((await create({}, other.key)).status, 201)
  t.equal((await create({ relay_source_id: 'of-another' }, other.key)).status, 201)
  await saving.commit()
  t.equal((await create({ relay_source_id: 'of-a-long-import' }, other.key)).status, 409)
})

t.test(
  'A relay source of channels that are older than the list belongs to the project of the oldest channel',
  async t => {
    const [first, second, third] = [await api.tenant(), await api.tenant(), await api.tenant()]
    const db = createPostgres(api.databaseUrl, 2)
    t.teardown(() => db.destroy())
    // as processes of the previous version do, which have no list
    const createOld = async (key: string) => {
      await execute(db, 'DELETE FROM relay_sources')
      return (await create({ relay_source_id: 'old' }, key)).body.data.id as string
    }
    const [oldest, younger] = [await createOld(first.key), await createOld(second.key)]
    await execute(db, 'DELETE FROM relay_sources')
    await startApi(t, { ROLES: 'deliver', DATABASE_URL: api.databaseUrl, SECRET_KEY })
    const listed = () => query(db, "SELECT FROM relay_sources WHERE relay_source_id = 'old'")
    await waitFor(async () => (await listed()).length === 2, { label: 'the ids in the list' })
    const save = (id: string, key: string, path: string) =>
      api.call('PUT', `/alerts/channels/${id}`, { key, body: { config: { url: url + path, relay_source_id: 'old' } } })
    t.match(await create({ relay_source_id: 'old' }, third.key), { status: 409 })
    t.match(await save(younger, second.key, '/other'), { status: 409 })
    t.equal((await save(younger, second.key, '')).status, 200, 'an unchanged config can be saved')
    t.equal((await save(oldest, first.key, '/other')).status, 200)
  },
)
