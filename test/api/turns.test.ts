import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type Answer, startApi } from '../support/api-server.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
const monitor = { name: 'Shop', type: 'http', url: 'https://shop.example.com' }

const buildFile = (count: number) => ({
  version: 1,
  monitors: Array.from({ length: count }, (_, i) => ({ ...monitor, name: `Shop ${i}` })),
})
const importFor = (key: string, count = 3) => api.call('POST', '/import?dry_run=false', { key, body: buildFile(count) })

/** Statements of this database that wait for a lock. */
async function waitingForLocks(): Promise<number> {
  const sql = `SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await query<{ count: number }>(api.db, sql))[0]!.count
}

/** While the row of an organization is locked, every request that adds a monitor waits with its connection. */
async function whileHolding<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
  const tx = await openTransaction(api.db)
  await tx.raw('SELECT FROM organizations WHERE id = ? FOR UPDATE', [organizationId])
  try {
    return await work()
  } finally {
    await tx.commit()
  }
}

const gauge = async (name: string) => {
  const { body } = await api.call('GET', `${api.operator}/metrics`, { key: null })
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(String(body))?.[1])
}
const listStatuses = (answers: Answer[]) => answers.map(({ status }) => status)

t.test('One of 25 imports of a project runs, a few wait without a connection, and the others are refused', async t => {
  const [busy, other] = [await api.tenant('business'), await api.tenant('business')]
  const refused: Answer[] = []
  const { all } = await whileHolding(busy.organizationId, async () => {
    const all = Array.from({ length: 25 }, async () => {
      const answer = await importFor(busy.key)
      if (answer.status === 429) refused.push(answer)
      return answer
    })
    await waitFor(() => refused.length === 19, { label: () => `${refused.length} of 19 refused` })
    await waitFor(async () => (await waitingForLocks()) === 1, { label: 'one that waits for the lock' })
    t.equal(await gauge('picket_api_heavy_writes_waiting'), 5)
    for (const answer of refused) {
      t.match(answer.body, {
        error: { code: 'rate_limited', status: 429, message: /imports and bulk creates of this project are already/ },
      })
      t.match(answer.headers.get('retry-after'), /^\d+$/)
    }
    t.equal((await api.call('GET', '/monitors', { key: busy.key })).status, 200, 'its reads go on')
    t.equal((await importFor(other.key)).status, 200, 'and imports of others')
    return { all }
  })
  const statuses = listStatuses(await Promise.all(all)).filter(status => status !== 429)
  t.equal(statuses.length, 6)
  t.same(new Set(statuses), new Set([200]))
  t.equal((await api.call('GET', '/monitors', { key: busy.key })).body.meta.total, 3)
  t.equal(await gauge('picket_api_heavy_writes_waiting'), 0)
})

t.test('Six of 40 concurrent requests of a project run; requests of other projects are answered meanwhile', async t => {
  const [busy, other] = [await api.tenant('business'), await api.tenant('business')]
  const { all, aborted } = await whileHolding(busy.organizationId, async () => {
    const all = Array.from({ length: 40 }, () => api.call('POST', '/monitors', { key: busy.key, body: monitor }))
    await waitFor(async () => (await gauge('picket_api_requests_waiting')) === 34, {
      label: '34 that wait',
    })
    await waitFor(async () => (await waitingForLocks()) === 6, { label: 'six in the database' })
    const leaving = new AbortController()
    const aborted = Array.from({ length: 10 }, () =>
      fetch(`${api.origin}/api/v1/monitors`, {
        headers: { authorization: `Bearer ${busy.key}` },
        signal: leaving.signal,
      }).then(
        ({ status }) => status,
        () => 'gone',
      ),
    )
    await waitFor(async () => (await gauge('picket_api_requests_waiting')) === 44, {
      label: '44 that wait',
    })
    leaving.abort()
    for (let i = 0; i < 5; i++) {
      t.equal((await api.call('POST', '/monitors', { key: other.key, body: monitor })).status, 201)
      t.equal((await api.call('GET', '/monitors', { key: other.key })).status, 200)
    }
    return { all, aborted }
  })
  const statuses = listStatuses(await Promise.all(all))
  t.same(new Set(statuses), new Set([201]))
  t.same(new Set(await Promise.all(aborted)), new Set(['gone']))
  const again = await Promise.all(Array.from({ length: 20 }, () => api.call('GET', '/monitors', { key: busy.key })))
  t.same(new Set(again.map(({ body }) => body.meta.total)), new Set([40]), 'those that left hold nothing')
  t.equal(await gauge('picket_api_requests_waiting'), 0)
})

t.test('A key that is deleted while its bulk create waits for a turn creates nothing', async t => {
  const busy = await api.tenant('business')
  const body = { name: 'deleted', scope: 'write' }
  const made = (await api.call('POST', '/api-keys', { key: busy.key, body })).body.data
  const answers = await whileHolding(busy.organizationId, async () => {
    const first = importFor(busy.key)
    await waitFor(async () => (await waitingForLocks()) === 1, { label: 'the import that has the turn' })
    const second = api.call('POST', '/monitors/bulk', { key: made.key, body: { monitors: [monitor] } })
    await waitFor(async () => (await gauge('picket_api_heavy_writes_waiting')) === 1, {
      label: 'one that waits for it',
    })
    await api.call('DELETE', `/api-keys/${made.id}`, { key: busy.key })
    return { first, second }
  })
  t.equal((await answers.first).status, 200)
  t.match(await answers.second, { status: 401, body: { error: { code: 'unauthorized' } } })
  t.equal((await api.call('GET', '/monitors', { key: busy.key })).body.meta.total, 3, 'those of the import')
})
