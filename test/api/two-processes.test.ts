import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { waitFor } from '../support/wait.ts'

const env = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
}
const [one, two] = [await startApi(t, env), await startApi(t, env)]
const { key } = await one.tenant()

t.test('Each API process sees the changes of the others', async t => {
  const body = { name: 'Shop', type: 'http', url: 'https://shop.example/' }
  const created = await one.call('POST', '/monitors', { key, body, headers: { 'idempotency-key': 'once' } })
  t.equal(created.status, 201)
  const again = await two.call('POST', '/monitors', { key, body, headers: { 'idempotency-key': 'once' } })
  t.same([again.status, again.body], [201, created.body], 'a repetition is answered again')
  const { id } = created.body.data
  await two.call('PUT', `/monitors/${id}`, { key, body: { name: 'Shop 2' } })
  t.equal((await one.call('GET', `/monitors/${id}`, { key })).body.data.name, 'Shop 2')
  const lists = await Promise.all([one, two].map(async api => (await api.call('GET', '/monitors', { key })).body))
  t.same(lists[0], lists[1])
  t.equal(lists[0].meta.total, 1)
})

t.test('A key of one process works at the other, and stops soon after its deletion', async t => {
  const made = await one.call('POST', '/api-keys', { key, body: { name: 'short', scope: 'read' } })
  const { id, key: short } = made.body.data
  t.equal((await two.call('GET', '/monitors', { key: short })).status, 200)
  await one.call('DELETE', `/api-keys/${id}`, { key })
  await waitFor(async () => (await two.call('GET', '/monitors', { key: short })).status === 401)
})

/** The resources that plans limit, and how many a free account may add. */
const COUNTED: { path: string; may: number; body: (n: number) => object }[] = [
  { path: '/monitors', may: 50, body: () => ({ name: 'Shop', type: 'http' }) },
  { path: '/status-pages', may: 1, body: n => ({ name: 'Acme', slug: `acme-${n}-${uuidv7()}` }) },
  { path: '/agent/invite', may: 2, body: n => ({ email: `member-${n}-${uuidv7()}@example.com`, role: 'viewer' }) },
  { path: '/data-sources', may: 2, body: () => ({ name: 'Health', url: 'https://shop.example/health.json' }) },
]

for (const { path, may, body } of COUNTED) {
  t.test(`POST ${path} 402 above the limit of a plan, also with concurrent requests to two processes`, async t => {
    const { key } = await one.tenant('free')
    const adding = Array.from({ length: may + 10 }, (_, n) =>
      (n % 2 ? one : two).call('POST', path, { key, body: body(n) }),
    )
    const statuses = (await Promise.all(adding)).map(({ status }) => status)
    t.equal(statuses.filter(status => status < 300).length, may)
    t.equal(statuses.filter(status => status === 402).length, 10)
  })
}
