import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { generateApiKey } from '../../control-plane/foundation/web/auth/api-key.ts'
import { startApi } from '../support/api-server.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '100' })
const owner = await api.tenant()
const body = { name: 'deploys', scope: 'write' }

t.test('/api/v1 accepts only "Authorization: Bearer <key>" with an existing key', async t => {
  const { key } = owner
  const mistyped = `${key.slice(0, 10)}${key[10] === 'a' ? 'b' : 'a'}${key.slice(11)}`
  const rows: [string, Record<string, string>][] = [
    ['no header', {}],
    ['Basic', { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }],
    ['the raw key', { authorization: key }],
    ['X-API-Key', { 'x-api-key': key }],
    ['a cookie', { cookie: `api_key=${key}` }],
    ['Bearer without a key', { authorization: 'Bearer ' }],
    ['a mistyped key', { authorization: `Bearer ${mistyped}` }],
    ['a well-formed key that does not exist', { authorization: `Bearer ${generateApiKey()}` }],
    ['another prefix', { authorization: `Bearer ${key.replace('svc_', 'key_')}` }],
  ]
  for (const path of ['/project', '/nothing', `${api.origin}/%61pi/v1/project`]) {
    for (const [what, headers] of rows) {
      const answer = await api.call('GET', path, { key: null, headers })
      t.match(answer, { status: 401, body: { error: { code: 'unauthorized', status: 401 } } }, `${what}, ${path}`)
    }
  }
})

t.test('The scope of a key limits it: read allows GET and HEAD, write also changes, admin also keys', async t => {
  const [read, write] = [await api.createKey(owner, 'read'), await api.createKey(owner, 'write')]
  const monitor = { name: 'x', type: 'http' }
  const rows: [string, string, string, unknown, number][] = [
    [read, 'GET', '/monitors', undefined, 200],
    [read, 'HEAD', '/monitors', undefined, 200],
    [read, 'POST', '/monitors', monitor, 403],
    [read, 'POST', '/monitors', { nonsense: true }, 403],
    [read, 'PUT', '/monitors/x', {}, 403],
    [write, 'POST', '/monitors', monitor, 201],
    [write, 'PUT', '/monitors/x', {}, 404],
    [write, 'GET', '/api-keys', undefined, 403],
    [write, 'POST', '/api-keys', body, 403],
    [write, 'DELETE', '/api-keys/x', undefined, 403],
    [owner.key, 'GET', '/api-keys', undefined, 200],
  ]
  for (const [key, method, path, body, status] of rows) {
    const answer = await api.call(method, path, { key, body })
    t.equal(answer.status, status, `${method} ${path}`)
    if (status === 403) t.equal(answer.body.error.code, 'insufficient_scope')
  }
})

t.test('POST /api-keys answers 201 with the key, once, and the key works immediately', async t => {
  const made = await api.call('POST', '/api-keys', { key: owner.key, body })
  t.equal(made.status, 201)
  const { key, ...record } = made.body.data
  t.match(key, /^svc_[0-9A-Za-z]{36}$/)
  t.match(record, {
    ...body,
    created_by: owner.userId,
    last_used_at: null,
    hint: `${key.slice(0, 8)}…${key.slice(-4)}`,
  })
  t.match(record.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.equal((await api.call('GET', '/project', { key })).status, 200)
  const listed = await api.call('GET', '/api-keys', { key: owner.key })
  t.notMatch(JSON.stringify(listed.body), key)
  const { last_used_at: lastUsedAt } = listed.body.data.find(({ id }: { id: string }) => id === record.id)
  t.match(lastUsedAt, /:00\.000Z$/, 'the use is kept to the minute')
  const rows = await api.db('api_keys').where({ id: record.id })
  t.notMatch(JSON.stringify(rows), key.slice(10), 'only the hash is stored')
})

t.test('DELETE /api-keys/{id} ends a key within 5 seconds', async t => {
  const { id, key } = (await api.call('POST', '/api-keys', { key: owner.key, body })).body.data
  t.equal((await api.call('GET', '/monitors', { key })).status, 200)
  t.same((await api.call('DELETE', `/api-keys/${id}`, { key: owner.key })).body, { data: { id, deleted: true } })
  const deletedMs = performance.now()
  let lastTakenMs = 0
  const refused = async () => {
    const askedMs = performance.now()
    if ((await api.call('GET', '/monitors', { key })).status === 401) return true
    lastTakenMs = askedMs - deletedMs
    return false
  }
  await waitFor(refused, { everyMs: 250 })
  t.ok(lastTakenMs <= 5_000, `it was taken ${Math.round(lastTakenMs)} ms after it`)
  t.equal((await api.call('DELETE', `/api-keys/${id}`, { key: owner.key })).status, 404)
})

t.test('DELETE /api-keys/{id} ends a key whose last request waited for the database for 5 seconds', async t => {
  const { id, key } = (await api.call('POST', '/api-keys', { key: owner.key, body })).body.data
  const lock = await openTransaction(api.db)
  await lock('api_keys').where({ id }).forUpdate()
  const asked = api.call('GET', '/monitors', { key })
  const sql = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE api_keys%'`
  await waitFor(async () => (await query(api.db, sql)).length > 0, { label: 'the request that waits for the lock' })
  const waitingMs = performance.now()
  await waitFor(() => performance.now() - waitingMs > 5_000, { label: 'the time that a key is cached' })
  await lock.commit()
  t.equal((await asked).status, 200)
  await api.call('DELETE', `/api-keys/${id}`, { key: owner.key })
  t.equal((await api.call('GET', '/monitors', { key })).status, 401)
})

t.test('DELETE /api-keys/{id} answers 409 for the last admin key', async t => {
  const lone = await api.tenant()
  const { id } = (await api.call('GET', '/api-keys', { key: lone.key })).body.data[0]
  t.match(await api.call('DELETE', `/api-keys/${id}`, { key: lone.key }), {
    status: 409,
    body: { error: { code: 'conflict' } },
  })
  await api.createKey(lone, 'admin')
  t.equal((await api.call('DELETE', `/api-keys/${id}`, { key: lone.key })).status, 200)
})

t.test('Keys of another project are a 404 and not listed', async t => {
  const [mine, theirs] = [await api.tenant(), await api.tenant()]
  const { id } = (await api.call('GET', '/api-keys', { key: theirs.key })).body.data[0]
  t.equal((await api.call('DELETE', `/api-keys/${id}`, { key: mine.key })).status, 404)
  t.equal((await api.call('GET', '/api-keys', { key: mine.key })).body.meta.total, 1)
})

t.test('A key has a limit of requests a minute, reports how many remain, and gets 429 above it', async t => {
  const { key } = await api.tenant()
  const first = await api.call('GET', '/project', { key })
  t.equal(first.headers.get('ratelimit-limit'), '100')
  const resetSeconds = Number(first.headers.get('ratelimit-reset'))
  t.ok(resetSeconds >= 1 && resetSeconds <= 60)
  const rest = await Promise.all(Array.from({ length: 220 }, () => api.call('GET', '/project', { key })))
  const refused = rest.find(({ status }) => status === 429)
  t.match(refused?.body, { error: { code: 'rate_limited', status: 429 } })
  t.match(refused?.headers.get('retry-after'), /^\d+$/)
  t.equal(refused?.headers.get('ratelimit-remaining'), '0')
  t.equal((await api.call('GET', '/project', { key: owner.key })).status === 429, false, 'other keys are not limited')
})
