import t from 'tap'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createApi } from '../support/api.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startPicket } from '../support/picket.ts'
import { readReadiness } from '../support/readiness.ts'
import { insertTenant } from '../support/tenant.ts'
import { createNextResult, insertLiveProbes, insertMonitors, publish } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

t.test('An outage is reported while requests of other tenants use every connection of the API', async t => {
  const picket = await startPicket(t, { regions: [] })
  const db = createPostgres(picket.databaseUrl, 4)
  const nats = await connectNats(picket.nats.url, 'test', picket.nats.operator)
  t.teardown(async () => {
    await nats.close()
    await db.destroy()
  })
  const { projectId } = await insertTenant(db)
  await insertLiveProbes(db)
  const [id] = await insertMonitors(db, projectId, 1)
  const reaches = (statuses: string) =>
    waitFor(
      async () => {
        const rows = await query<{ to: string }>(
          db,
          'SELECT to_status AS "to" FROM transitions WHERE monitor_id = ? ORDER BY at, id',
          [id!],
        )
        return rows.map(({ to }) => to).join(' ') === statuses
      },
      { label: statuses },
    )
  await publish(nats, [createNextResult(id!, { up: true })])
  await reaches('up')

  // every change of a monitor waits for this lock and keeps its connection
  const holder = await openTransaction(db)
  await query(holder, 'SELECT pg_advisory_xact_lock(7026001)')
  let isOver = false
  // one tenant has only a share of the connections (docs/design/api.md#request-queue)
  const tenants = await Promise.all(Array.from({ length: 4 }, () => insertTenant(db)))
  const keys = await Promise.all(tenants.map(tenant => createApiKey(db, tenant, { name: 'test', scope: 'write' })))
  const apis = keys.map(({ key }) => createApi(picket.origin, key))
  const create = async (i: number) => {
    while (!isOver)
      await apis[i % apis.length]!.post('/monitors', {
        name: `M${i}`,
        type: 'http',
        url: 'https://shop.example/',
        regions: ['us-east'],
      }).catch(() => {})
  }
  const creating = Array.from({ length: 40 }, (_, i) => create(i))
  const metric = async (name: string) => {
    const text = await (await fetch(`${picket.operator}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find(line => line.startsWith(name))
        ?.split(' ')
        .at(-1) ?? 0,
    )
  }
  await waitFor(async () => (await metric('picket_postgres_pool_waiting{pool="api"}')) > 5, {
    label: 'requests that wait for a connection',
  })
  t.equal((await readReadiness(picket.operator)).status, 200)
  await publish(nats, [createNextResult(id!, { up: false })])
  await reaches('up down')
  t.equal(await metric('picket_verdict_partitions_owned'), 16)
  t.pass('it was reported while the requests were held up')
  isOver = true
  await holder.rollback()
  await Promise.all(creating)
})
