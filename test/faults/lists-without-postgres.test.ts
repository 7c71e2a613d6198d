import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { createDatabase } from '../support/database.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { insertMonitor } from '../support/verdict.ts'

t.test('Lists and analytics are 503 without PostgreSQL, and answer again when it is back', async t => {
  const relay = await startTcpRelay(t, (await createDatabase(t)).url)
  const api = await startApi(t, { DATABASE_URL: relay.url })
  const account = await api.tenant()
  const id = await insertMonitor(api.db, account.projectId)
  const key = await api.createKey(account, 'read')
  const paths = [
    `/analytics/strips?monitor_ids=${id}`,
    `/analytics/latency?monitor_id=${id}&step=5m&phases=true`,
    `/analytics/heatmap?monitor_id=${id}`,
    '/regions',
    '/monitors?sort=status&issue=true',
  ]
  for (const path of paths) t.equal((await api.call('GET', path, { key })).status, 200, path)
  await relay.cut()
  for (const path of paths) {
    const { status, body } = await api.call('GET', path, { key })
    t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable' } } }, path)
  }
  await relay.restore()
  for (const path of paths) t.equal((await api.call('GET', path, { key })).status, 200, path)
})
