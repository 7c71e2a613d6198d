import t from 'tap'
import { shareApi } from '../support/api-server.ts'
import { bodyOfChannel } from '../support/bodies.ts'

const api = await shareApi()
const monitor = { name: 'Shop', type: 'http', url: 'https://shop.example.com' }

/** The number of responses by status, such as `{ 201: 1, 409: 9 }`. */
function countStatuses(answers: { status: number }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const together = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

async function create(key: string, path: string, body: object) {
  const answer = await api.call('POST', path, { key, body })
  t.equal(answer.status, 201)
  return answer.body.data.id as string
}

t.test('Concurrent requests never exceed a limit of the plan together', async t => {
  const { key } = await api.tenant('free')
  const bulk = await api.call('POST', '/monitors/bulk', { key, body: { monitors: Array(45).fill(monitor) } })
  t.equal(bulk.body.monitors.length, 45)
  const [single, many] = await Promise.all([
    together(6, () => api.call('POST', '/monitors', { key, body: monitor })),
    together(3, () => api.call('POST', '/monitors/bulk', { key, body: { monitors: Array(4).fill(monitor) } })),
  ])
  const made = single.filter(({ status }) => status === 201).length
  const inBulk = many.reduce((sum, { body }) => sum + body.monitors.length, 0)
  t.equal(made + inBulk, 5)
  t.ok(single.every(({ status }) => status === 201 || status === 402))
  t.match(many.flatMap(({ body }) => body.errors)[0]?.error, /50/, 'the error names the limit and the count')
  t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 50)
})

t.test('Concurrent requests create one rule for a monitor and a channel', async t => {
  const { key } = await api.tenant()
  const monitor_id = await create(key, '/monitors', monitor)
  const alert_channel_id = await create(key, '/alerts/channels', bodyOfChannel())
  const answers = await together(10, () =>
    api.call('POST', '/alerts/rules', { key, body: { monitor_id, alert_channel_id } }),
  )
  t.same(countStatuses(answers), { 201: 1, 409: 9 })
  t.equal((await api.call('GET', '/alerts/rules', { key })).body.meta.total, 1)
})

t.test('A default channel that is created together with monitors is linked to each monitor at most once', async t => {
  const { key } = await api.tenant()
  const [monitors] = await Promise.all([
    together(8, () => api.call('POST', '/monitors', { key, body: monitor })),
    together(2, () => api.call('POST', '/alerts/channels', { key, body: { ...bodyOfChannel(), is_default: true } })),
  ])
  t.same(countStatuses(monitors), { 201: 8 })
  const after = await api.call('POST', '/monitors', { key, body: monitor })
  const { body } = await api.call('GET', '/alerts/rules', { key })
  const pairs = body.data.map((rule: Record<string, string>) => `${rule.monitor_id} ${rule.alert_channel_id}`)
  t.equal(new Set(pairs).size, pairs.length)
  t.equal(pairs.filter((pair: string) => pair.startsWith(after.body.data.id)).length, 2)
})

t.test('Concurrent changes and deletions answer 200 or 404, and a deleted record stays deleted', async t => {
  const { key } = await api.tenant()
  for (const [path, body, changes] of [
    ['/monitors', monitor, [{ name: 'B' }, { url: 'https://b.example.com', regions: ['eu-west'] }]],
    ['/alerts/channels', bodyOfChannel(), [{ name: 'B' }, { is_default: true }]],
  ] as const) {
    for (let round = 0; round < 5; round++) {
      const id = await create(key, path, body)
      const other = await create(
        key,
        path === '/monitors' ? '/alerts/channels' : '/monitors',
        path === '/monitors' ? bodyOfChannel() : monitor,
      )
      const rule =
        path === '/monitors' ? { monitor_id: id, alert_channel_id: other } : { monitor_id: other, alert_channel_id: id }
      const answers = await Promise.all([
        ...changes.map(change => api.call('PUT', `${path}/${id}`, { key, body: change })),
        api.call('POST', '/alerts/rules', { key, body: rule }),
        api.call('DELETE', `${path}/${id}`, { key }),
        api.call('DELETE', `${path}/${id}`, { key }),
        ...(path === '/monitors' ? ['pause', 'resume'] : ['rotate-secret', 'resume', 'test']).map(verb =>
          api.call('POST', `${path}/${id}/${verb}`, { key }),
        ),
        ...changes.map(change => api.call('PUT', `${path}/${id}`, { key, body: change })),
      ])
      const strange = answers.filter(({ status }) => ![200, 201, 404].includes(status))
      t.same(
        strange.map(({ status, body }) => [status, body]),
        [],
        `${path}, round ${round}`,
      )
      t.equal((await api.call('GET', `${path}/${id}`, { key })).status, 404)
      t.equal((await api.call('PUT', `${path}/${id}`, { key, body: { name: 'C' } })).status, 404)
      const rules = (await api.call('GET', '/alerts/rules', { key })).body.data
      t.notOk(rules.some((one: Record<string, string>) => one.monitor_id === id || one.alert_channel_id === id))
    }
  }
})

t.test('Concurrent changes of one monitor are all applied, and each increments the config version', async t => {
  const { key } = await api.tenant()
  const id = await create(key, '/monitors', monitor)
  const answers = await together(10, i =>
    api.call('PUT', `/monitors/${id}`, { key, body: i % 2 ? { tags: [`t${i}`] } : { timeout_ms: 1_000 + i } }),
  )
  t.same(countStatuses(answers), { 200: 10 })
  const [row] = await api.db('monitors').where({ id })
  t.equal(row.config_version, 6, 'five changes of what is checked')
  t.ok(row.tags[0].startsWith('t') && row.timeout_ms < 1_010)
})

t.test('One of two concurrent deletions of the last two admin keys is refused', async t => {
  const { key } = await api.tenant()
  const spare = await api.call('POST', '/api-keys', { key, body: { name: 'spare', scope: 'admin' } })
  // from here on the process has the key in its cache
  const { body } = await api.call('GET', '/api-keys', { key: spare.body.data.key })
  const answers = await Promise.all(
    body.data.map(({ id }: { id: string }) => api.call('DELETE', `/api-keys/${id}`, { key: spare.body.data.key })),
  )
  t.same(countStatuses(answers as { status: number }[]), { 200: 1, 409: 1 })
})

t.test('Concurrent requests with one Idempotency-Key create one monitor', async t => {
  const { key } = await api.tenant()
  const headers = { 'idempotency-key': 'once' }
  const answers = await together(10, () => api.call('POST', '/monitors', { key, body: monitor, headers }))
  t.ok(answers.every(({ status }) => status === 201 || status === 409))
  t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 1)
})

t.test('Concurrent bootstraps of one email address create one account', async t => {
  const body = { email: 'Twice@example.com' }
  const answers = await together(8, i =>
    api.call('POST', '/agent/bootstrap', { key: null, body: i % 2 ? body : { email: body.email.toLowerCase() } }),
  )
  t.same(countStatuses(answers), { 201: 1, 409: 7 })
})
