import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

const postgres = await startTcpRelay(t, (await createDatabase(t)).url)
const clickhouse = await startTcpRelay(t, (await createClickhouseDatabase(t)).url)
const api = await startApi(t, { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url })
const { key } = await api.tenant()

const { id } = (await api.call('POST', '/status-pages', { key, body: { name: 'Acme', slug: 'acme' } })).body.data
const change = (body: object) => api.call('PUT', `/status-pages/${id}`, { key, body })
await change({ is_published: true })
await api.call('POST', `/status-pages/${id}/components`, { key, body: { name: 'Checkout', status: 'operational' } })

async function visit(path = '/status/acme') {
  const answer = await fetch(`${api.origin}${path}`)
  return { status: answer.status, since: answer.headers.get('x-service-stale-since'), text: await answer.text() }
}

t.test(
  'A page is served while PostgreSQL is unreachable, with the time of its data, and is updated afterwards',
  async t => {
    await waitFor(async () => (await visit()).text.includes('Checkout'))
    await postgres.cut()
    const cutMs = Date.now()
    const stale = await waitFor(async () => {
      const shown = await visit()
      return shown.since === null ? null : shown
    })
    t.equal(stale.status, 200)
    t.match(stale.text, /Checkout/)
    t.match(stale.text, /<p class="stale">This page could not be updated/)
    t.ok(Date.parse(stale.since!) <= cutMs + 1_000)
    for (const path of ['/feed.rss', '/badge.svg', '/api/v2/summary.json']) {
      t.match(await visit(`/status/acme${path}`), { status: 200, since: stale.since }, path)
    }
    t.equal((await visit('/status/never-seen')).status, 503)

    await postgres.restore()
    await waitFor(async () => (await change({ name: 'Acme Cloud' })).status === 200)
    const fresh = await waitFor(async () => {
      const shown = await visit()
      return shown.text.includes('Acme Cloud') ? shown : null
    })
    t.equal(fresh.since, null)
    t.notMatch(fresh.text, /<p class="stale">/)
  },
)

t.test('A page shows changes while ClickHouse is unreachable', async t => {
  await clickhouse.cut()
  await change({ name: 'Acme without history' })
  const shown = await waitFor(async () => {
    const visited = await visit()
    return visited.text.includes('Acme without history') ? visited : null
  })
  t.equal(shown.since, null)
  await clickhouse.restore()
})

t.test('A change is visible under load before an unchanged page is read again', async t => {
  let isDone = false
  const crowd = Array.from({ length: 20 }, async () => {
    while (!isDone) await visit()
  })
  const waits: number[] = []
  for (const name of ['Acme One', 'Acme Two', 'Acme Three']) {
    await change({ name })
    const changedMs = Date.now()
    await waitFor(async () => (await visit()).text.includes(name))
    waits.push(Date.now() - changedMs)
  }
  isDone = true
  await Promise.all(crowd)
  // an unchanged page is read again after a minute, so each wait after the first would be that long
  t.ok(Math.min(...waits.slice(1)) < 50_000, `the fastest of ${waits.slice(1).join(', ')} ms`)
})
