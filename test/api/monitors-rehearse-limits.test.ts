import { type AddressInfo, createServer, type Socket } from 'node:net'
import t from 'tap'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { type Clickhouse, createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { MAX_ATTEMPTS } from '../../control-plane/insight/explanations/rehearsal/rehearsal-actions.ts'
import { rehearsalRoutes } from '../../control-plane/insight/explanations/rehearsal/rehearsal-routes.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { insertMonitor } from '../support/verdict.ts'

const { url } = await createClickhouseDatabase(t)
await migrateClickhouse(url)
const clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())
let history: Clickhouse = clickhouse
const api = await createResourceApi(t, (app, handles) =>
  rehearsalRoutes(app, {
    ...{ ...handles, metrics: createMetrics() },
    get clickhouse() {
      return history
    },
  }),
)

t.test('POST /monitors/{id}/rehearse 400 names the largest number of checks when the period has more', async t => {
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId)
  await clickhouse.command({
    query: `INSERT INTO results (monitor_id, region, scheduled_at, attempt, started_at, status)
      SELECT {id:UUID}, 'us-east', now64(3) - toIntervalMillisecond(number), 1, now64(3), 'up' FROM numbers({count:UInt32})`,
    query_params: { id, count: MAX_ATTEMPTS + 1 },
  })
  const { status, body } = await account.call(`POST /monitors/${id}/rehearse`, { settings: {} })
  t.equal(status, 400)
  const message = `the period has ${MAX_ATTEMPTS + 1} checks; at most ${MAX_ATTEMPTS} can be rehearsed, so choose a shorter one`
  t.same(body.error.details, [{ path: 'from', message }])
})

t.test('POST /monitors/{id}/rehearse 429 when one rehearsal of the project runs and two wait', async t => {
  const sockets = new Set<Socket>()
  const hanging = createServer(socket => sockets.add(socket))
  await new Promise<void>(resolve => hanging.listen(0, '127.0.0.1', resolve))
  const { port } = hanging.address() as AddressInfo
  const silent = createClickhouse(`http://127.0.0.1:${port}/picket`)
  history = silent
  const release = () => {
    hanging.close()
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(async () => {
    history = clickhouse
    release()
    await silent.close()
  })
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId)
  const requests = [1, 2, 3, 4].map(() => account.call(`POST /monitors/${id}/rehearse`, { settings: {} }))
  const refused = await Promise.race(requests)
  t.match(refused, { status: 429, body: { error: { code: 'rate_limited' } } })
  t.match(refused.body.error.message, /2 rehearsals of this project are already waiting/)
  t.equal(refused.headers['retry-after'], '10')
  const other = await api.account()
  const missing = await other.call(`POST /monitors/${id}/rehearse`, { settings: {} })
  t.equal(missing.status, 404, 'other projects are not affected')
  release()
  const answers = await Promise.all(requests)
  t.equal(
    answers.filter(({ status }) => status === 503).length,
    3,
    'the others end when ClickHouse ends their requests',
  )
})
