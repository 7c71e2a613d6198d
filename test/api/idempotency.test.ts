import t from 'tap'
import { markCarriedOut, takeIdempotencyKey } from '../../control-plane/foundation/web/server/idempotency-store.ts'
import { shareApi } from '../support/api-server.ts'

const api = await shareApi()
const body = { name: 'once', scope: 'read' }
const create = (key: string, idempotencyKey: string, sent: unknown = body, path = '/api-keys') =>
  api.call('POST', path, { key, body: sent, headers: { 'idempotency-key': idempotencyKey } })
const countKeys = async (key: string) => (await api.call('GET', '/api-keys', { key })).body.meta.total

t.test('The same request with the same Idempotency-Key gets the first answer again', async t => {
  const { key } = await api.tenant()
  const first = await create(key, 'a')
  const again = await create(key, 'a')
  t.equal(first.status, 201)
  t.equal(again.status, 201)
  t.same(again.body, first.body)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.equal(await countKeys(key), 2, 'one was made')
})

t.test('Another body or path with the same Idempotency-Key is 409', async t => {
  const { key } = await api.tenant()
  await create(key, 'a')
  const other = await create(key, 'a', { ...body, name: 'twice' })
  t.match(other, { status: 409, body: { error: { code: 'conflict' } } })
  t.equal((await create(key, 'a', { name: 'm', type: 'http' }, '/monitors')).status, 409)
  t.equal(await countKeys(key), 2)
})

t.test('One of ten equal concurrent requests is executed, the others get its answer or 409', async t => {
  const { key } = await api.tenant()
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(key, 'a')))
  const made = answers.filter(({ status }) => status === 201)
  t.equal(new Set(made.map(answer => answer.body.data.id)).size, 1)
  t.ok(answers.every(({ status }) => status === 201 || status === 409))
  t.equal(await countKeys(key), 2)
})

t.test('A refusal is stored as well, but an invalid request may be corrected with the same key', async t => {
  const { key } = await api.tenant()
  t.equal((await create(key, 'a', { name: 'x' })).status, 400)
  t.equal((await create(key, 'a')).status, 201)
  const monitor = { name: 'Shop', type: 'http', url: 'http://169.254.169.254' }
  t.equal((await create(key, 'b', monitor, '/monitors')).status, 400)
  t.equal((await create(key, 'b', { ...monitor, url: 'https://example.com' }, '/monitors')).status, 201)
})

t.test('An Idempotency-Key belongs to a project', async t => {
  const [one, other] = [await api.tenant(), await api.tenant()]
  const [first, second] = [await create(one.key, 'a'), await create(other.key, 'a')]
  t.equal(second.status, 201)
  t.not(second.body.data.id, first.body.data.id)
})

t.test('A stored answer is encrypted at rest', async t => {
  const tenant = await api.tenant()
  const { body: made } = await create(tenant.key, 'a')
  const [row] = await api.db('idempotency_keys').where({ project_id: tenant.projectId })
  t.equal(row.status, 201)
  t.notOk(row.answer.includes(made.data.key.slice(4)))
})

t.test('The key of a crashed request is free after 90 seconds, and every key after a day', async t => {
  const tenant = await api.tenant()
  const age = (hours: number, changes: object) =>
    api
      .db('idempotency_keys')
      .where({ project_id: tenant.projectId })
      .update({
        created_at: new Date(Date.now() - hours * 3_600_000),
        ...changes,
      })
  await create(tenant.key, 'a')
  await api.db('idempotency_marks').where({ project_id: tenant.projectId }).delete()
  await age(0.001, { status: null, answer: null })
  t.equal((await create(tenant.key, 'a')).status, 409, 'seconds later it may still be worked on')
  await age(0.1, { status: null, answer: null })
  t.equal((await create(tenant.key, 'a')).status, 201)
  await age(23, {})
  t.equal((await create(tenant.key, 'a', { ...body, name: 'other' })).status, 409)
  await age(25, {})
  t.equal((await create(tenant.key, 'a', { ...body, name: 'other' })).status, 201)
})

t.test(
  'A slow request keeps its Idempotency-Key during its transaction, and changes nothing after it lost the key',
  async t => {
    const { projectId } = await api.tenant()
    const hash = Buffer.alloc(32)
    const secondsAgo = (seconds: number) => ({ projectId, key: 'slow', at: new Date(Date.now() - seconds * 1_000) })
    const [first, second, third] = [secondsAgo(300), secondsAgo(200), secondsAgo(100)]
    t.ok(await takeIdempotencyKey(api.db, first, hash))
    t.ok(await takeIdempotencyKey(api.db, second, hash), 'the first did nothing for 90 s')
    await t.rejects(
      api.db.transaction(tx => markCarriedOut(tx, first)),
      { status: 409, message: /another request with this Idempotency-Key/ },
    )
    await api.db.transaction(async tx => {
      await markCarriedOut(tx, second)
      t.notOk(await takeIdempotencyKey(api.db, third, hash), 'during its transaction')
    })
    t.notOk(await takeIdempotencyKey(api.db, third, hash), 'after its transaction')
  },
)
