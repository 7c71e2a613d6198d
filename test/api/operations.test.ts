import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { createDatabase } from '../support/database.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

t.test('/healthz, /readyz and /metrics answer without a key', async t => {
  const api = await startApi(t)
  t.match(await api.call('GET', `${api.origin}/healthz`, { key: null }), { status: 200, body: { status: 'ok' } })
  // an engine that needs longer than three seconds counts as unreachable
  const ready = await waitFor(async () => {
    const answer = await api.call('GET', `${api.operator}/readyz`, { key: null })
    return answer.status === 200 ? answer : null
  })
  t.match(ready.body, { status: 'ready', dependencies: { postgres: 'ok', nats: 'ok', clickhouse: 'ok' } })
  await api.call('GET', '/project')
  const metrics = await api.call('GET', `${api.operator}/metrics`, { key: null })
  t.match(metrics.headers.get('content-type'), /^text\/plain/)
  t.match(metrics.body, /picket_http_request_seconds_count\{method="GET",route="\/api\/v1\/project",status="200"\} 1/)
})

t.test('/ leads to the sign-in page without a session, and answers 401 to an API key', async t => {
  const api = await startApi(t)
  const answer = await api.call('GET', `${api.origin}/`, { key: null })
  t.equal(answer.status, 303)
  t.equal(answer.headers.get('location'), '/sign-in?return_to=%2F')
  t.equal((await api.call('GET', `${api.origin}/`)).status, 401)
})

t.test('Without PostgreSQL a request is 503 unavailable and reveals nothing about the engine', async t => {
  const relay = await startTcpRelay(t, (await createDatabase(t)).url)
  const api = await startApi(t, { DATABASE_URL: relay.url })
  const key = await api.createKey(await api.tenant(), 'read')
  await relay.cut()
  const answer = await api.call('GET', '/project', { key })
  t.match(answer, { status: 503, body: { error: { code: 'unavailable', status: 503 } } })
  t.equal(answer.headers.get('retry-after'), '5')
  t.notMatch(answer.body.error.message, /postgres|ECONN|127/i)
  t.match(await api.call('GET', `${api.origin}/healthz`, { key: null }), { status: 200 })
  const ready = await waitFor(async () => {
    const answer = await api.call('GET', `${api.operator}/readyz`, { key: null })
    const { nats, clickhouse } = answer.body.dependencies
    return nats === 'ok' && clickhouse === 'ok' ? answer : null
  })
  t.match(ready, { status: 503, body: { status: 'not ready', dependencies: { postgres: 'away' } } })
})

t.test(
  'A control plane that starts without ClickHouse serves the API and reports that ClickHouse is missing',
  async t => {
    const api = await startApi(t, { CLICKHOUSE_URL: 'http://127.0.0.1:1/picket' })
    t.equal((await api.call('GET', '/project')).status, 200)
    await waitFor(async () => {
      const { body } = await api.call('GET', `${api.operator}/readyz`, { key: null })
      return body.dependencies.clickhouse === 'away' && body.dependencies.postgres === 'ok'
    })
  },
)

t.test('A request on a dead connection to PostgreSQL is 503 unavailable, and the next one succeeds', async t => {
  const relay = await startTcpRelay(t, (await createDatabase(t)).url)
  const api = await startApi(t, { DATABASE_URL: relay.url })
  t.equal((await api.call('GET', '/project')).status, 200)
  relay.abandon()
  const answer = await api.call('GET', '/project')
  t.match(answer, { status: 503, body: { error: { code: 'unavailable', status: 503 } } })
  t.equal((await api.call('GET', '/project')).status, 200)
})
