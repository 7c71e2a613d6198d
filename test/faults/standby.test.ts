import t from 'tap'
import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import {
  createPostgres,
  execute,
  pingPrimary,
  query,
  withSetting,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { UnknownCommitError } from '../../control-plane/foundation/platform/postgres/commit-outcome.ts'
import { CHANNEL } from '../support/bodies.ts'
import { runAdmin, startPicket } from '../support/picket.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { startPostgresPair, withClient } from '../support/standby.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

/** Uses transaction ids until the one that was given out before the crash is committed, or known to be aborted. */
const useIds = (url: string, before: string) =>
  withClient(url, async client => {
    const status = async () =>
      (await client.query('SELECT pg_xact_status($1::xid8) AS status', [before]).catch(() => null))?.rows[0].status
    await waitFor(
      async () => {
        await client.query('SELECT pg_current_xact_id()')
        return (await status()) !== undefined
      },
      { label: `the transaction id ${before}` },
    )
    return status()
  })

t.test('Connections and processes that met a standby use the primary as soon as the address leads to it', async t => {
  const { primary, standby } = await startPostgresPair(t)
  const relay = await startTcpRelay(t, primary.url)
  const moveTo = async (url: string) => {
    relay.leadTo(url)
    await relay.cut()
    await relay.restore()
  }

  await t.test('A pool rejects queries on a standby, and writes once the address leads to the primary', async t => {
    await withClient(primary.url, client => client.query('CREATE TABLE kept (n int)'))
    const db = createPostgres(relay.url, { max: 4 })
    t.teardown(() => db.destroy())
    await execute(db, 'INSERT INTO kept VALUES (1)')
    await moveTo(standby.url)
    const refused = () =>
      t.rejects(query(db, 'SELECT 1'), { code: '25006', message: 'PostgreSQL is a standby and accepts no writes' })
    // the connection that broke is noticed with its next query
    await waitFor(() => query(db, 'SELECT 1').catch(error => error.code === '25006'), { label: 'the standby' })
    await Promise.all([refused(), refused(), refused(), refused()])
    // the open connections stay
    relay.leadTo(primary.url)
    await Promise.all([2, 3, 4, 5].map(n => execute(db, 'INSERT INTO kept VALUES (?)', [n])))
    t.match(await query(db, 'SELECT count(*) AS n FROM kept'), [{ n: 5 }])
  })

  await t.test('A control plane is not ready on a standby, and reads all partitions again on the primary', async t => {
    await migratePostgres(primary.url)
    const { api, operator, clickhouseUrl, nats } = await startPicket(t, {
      regions: [],
      env: { DATABASE_URL: relay.url },
    })
    const readiness = async () => {
      const answer = await fetch(`${operator}/readyz`)
      return { status: answer.status, ...(await answer.json()) }
    }
    const owned = async () =>
      Number(
        /^picket_verdict_partitions_owned (\d+)$/m.exec(await (await fetch(`${operator}/metrics`)).text())?.[1] ?? -1,
      )
    let made = 0
    const create = () =>
      api.post('/monitors', {
        name: `M${made++}`,
        type: 'http',
        url: 'https://shop.example/',
        regions: ['us-east'],
      })
    await waitFor(async () => (await owned()) === 16, { label: '16 partitions' })
    t.equal((await create()).status, 201)

    await moveTo(standby.url)
    const isStandby = async () => (await readiness()).dependencies.postgres === 'standby'
    await waitFor(isStandby, { label: '/readyz that names the standby' })
    t.match(await readiness(), { status: 'not ready', dependencies: { nats: 'ok' } })
    t.match(await create(), { status: 503, body: { error: { code: 'unavailable' } } })
    await waitFor(async () => (await owned()) === 0, { label: 'no partition' })
    const text = async () => JSON.stringify(await (await fetch(`${operator}/internal/health`)).json())
    t.match(await text(), /PostgreSQL is a standby and accepts no writes/)
    const env = { DATABASE_URL: relay.url, CLICKHOUSE_URL: clickhouseUrl, NATS_URL: nats.url }
    const report = await runAdmin(env, ['health']).catch(({ stdout }) => stdout)
    t.match(report, /PostgreSQL is a standby and accepts no writes/)

    // the open connections stay
    relay.leadTo(primary.url)
    await waitFor(async () => (await readiness()).dependencies.postgres === 'ok', { label: 'the primary' })
    await waitFor(async () => (await create()).status === 201, { label: 'a write' })
    await waitFor(async () => (await owned()) === 16, { label: '16 partitions again' })
  })
})

t.test('A request that a read-only PostgreSQL refuses is 503, and its connection is replaced', async t => {
  const relays: TcpRelay[] = []
  const api = await createResourceApi(t, channelRoutes, {
    async lead(url) {
      relays.push(await startTcpRelay(t, url))
      return relays[0]!.url
    },
  })
  const { call } = await api.account()
  const create = () => call('POST /alerts/channels', CHANNEL)
  const setReadOnly = (value: 'on' | 'off') =>
    withClient(api.url, async client => {
      await client.query('SET default_transaction_read_only = off')
      const name = client.escapeIdentifier(client.database!)
      await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
    })
  t.equal((await create()).status, 201)
  await setReadOnly('on')
  await relays[0]!.cut()
  await relays[0]!.restore()
  await waitFor(() => query(api.db, 'SELECT 1'), { label: 'new connections' })
  for (let i = 0; i < 3; i++) t.match(await create(), { status: 503, body: { error: { code: 'unavailable' } } })
  const ping = () =>
    pingPrimary(api.db).then(
      () => 'ok',
      error => error.code,
    )
  t.equal(await ping(), '25006')
  await setReadOnly('off')
  await waitFor(async () => (await ping()) === 'ok', { label: 'a connection that accepts writes' })
  await waitFor(async () => (await create()).status === 201, { label: 'a write' })
})

t.test('A commit that a failover or a crash lost is not reported as committed', async t => {
  for (const how of ['a failover', 'a crash'] as const) {
    await t.test(`A commit that ${how} lost is an error, and its row is not there`, async t => {
      const { primary, standby, replication, promote } = await startPostgresPair(t)
      await withClient(primary.url, client => client.query('CREATE TABLE kept (n int)'))
      const relay = await startTcpRelay(t, primary.url)
      const db = createPostgres(relay.url)
      t.teardown(() => db.destroy())
      await execute(db, 'INSERT INTO kept VALUES (1)')
      const ended = withSetting(db, 'picket.test', 'yes').transaction(async tx => {
        await replication.cut()
        await execute(tx, 'INSERT INTO kept VALUES (2)')
        const [row] = await query<{ id: string }>(tx, 'SELECT CAST(pg_current_xact_id() AS text) AS id')
        await primary.kill9()
        if (how === 'a failover') {
          await promote()
          relay.leadTo(standby.url)
          t.equal(await useIds(standby.url, row!.id), 'committed', 'another transaction has the id')
        } else {
          await primary.restart()
          t.comment(`the id is of a transaction that is ${await useIds(primary.url, row!.id)}`)
        }
        return 'committed'
      })
      const outcome = await ended.catch((error: Error) => error)
      if (how === 'a failover') t.type(outcome, UnknownCommitError)
      t.type(outcome, Error)
      t.same(await query(db, 'SELECT n FROM kept'), [{ n: 1 }])
    })
  }
})
