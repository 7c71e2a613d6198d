import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import {
  createPostgres,
  execute,
  type PoolOptions,
  query,
  withSetting,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { createStaleConnectionSignal } from '../../control-plane/foundation/platform/postgres/dead-connections.ts'
import { listenForNotifications } from '../../control-plane/foundation/platform/postgres/listener.ts'
import { createLog } from '../../shared/process/log.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const direct = createPostgres(url)
t.teardown(() => direct.destroy())
await execute(direct, 'CREATE TABLE kept (n int)')
const keptRows = async () => (await query<{ n: number }>(direct, 'SELECT n FROM kept ORDER BY n')).map(({ n }) => n)

async function openPool(options: Partial<PoolOptions> = {}) {
  const relay = await startTcpRelay(t, url)
  const db = createPostgres(relay.url, { max: 4, ...options })
  t.teardown(() => db.destroy())
  /** Uses all connections of the pool. */
  const useAll = async () => {
    const all = await Promise.all(Array.from({ length: options.max ?? 4 }, () => db.transaction()))
    for (const one of all) await one.rollback()
  }
  await useAll()
  return { relay, db, useAll }
}

t.test('A query on a dead connection fails, and the pool works afterwards', async t => {
  const { relay, db, useAll } = await openPool()
  relay.abandon()
  await t.rejects(query(db, 'SELECT 1'), /does not answer/)
  // the three other connections were idle and dead as well
  await useAll()
  t.pass('no query found a dead connection again')
})

/** A server that accepts connections and never answers. */
async function startSilentServer(t: Teardown): Promise<number> {
  const server = createServer(socket => socket.on('error', () => {}))
  t.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

t.test('A query fails when its new connection is not set up in the time of its pool', async t => {
  const db = createPostgres(`postgres://postgres@127.0.0.1:${await startSilentServer(t)}/postgres`, { connectMs: 200 })
  await t.rejects(query(db, 'SELECT 1'), /timeout expired/)
  await db.destroy()
})

t.test('A connection that is being opened ends with the dead ones, so that no later query waits for it', async t => {
  const silentUrl = `tcp://127.0.0.1:${await startSilentServer(t)}`
  // the second connection is never answered
  const relay = await startTcpRelay(t, url, silentUrl, url, url, url, url)
  const db = createPostgres(relay.url, { max: 4 })
  t.teardown(() => db.destroy())
  await query(db, 'SELECT 1')
  relay.abandon()
  const [first, second] = await Promise.allSettled([1, 2].map(() => query(db, 'SELECT 1')))
  t.match(first, { reason: { code: 'ETIMEDOUT' } }, 'the query on the dead connection')
  t.match(second, { reason: { code: 'ETIMEDOUT' } }, 'the query that needed a new connection')
  t.same(await query(db, 'SELECT 1 AS one'), [{ one: 1 }])
})

t.test('Queries on several dead connections end together', async t => {
  const { relay, useAll, db } = await openPool()
  relay.abandon()
  const ends = await Promise.allSettled([1, 2, 3, 4].map(() => query(db, 'SELECT 1')))
  t.same(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'rejected'],
  )
  await useAll()
})

t.test('A query on which PostgreSQL works is never treated as dead, even after long silence', async t => {
  const { db } = await openPool({ silenceMs: 5_000 })
  t.same(await query(db, 'SELECT 1 AS one FROM pg_sleep(9)'), [{ one: 1 }])
})

t.test('PostgreSQL cancels a statement beyond the limit of its pool, and its connection stays', async t => {
  const { db } = await openPool({ max: 1, statementMs: 2_000 })
  const pid = async () => (await query<{ pid: number }>(db, 'SELECT pg_backend_pid() AS pid'))[0]!.pid
  const before = await pid()
  await t.rejects(query(db, 'SELECT pg_sleep(60)'), { code: '57014' })
  t.equal(await pid(), before)
})

t.test('A long answer that stops half way fails', async t => {
  const { relay, db, useAll } = await openPool()
  const ended = query(db, `SELECT repeat('x', 1000000), pg_sleep(0.05) FROM generate_series(1, 1200)`).catch(
    (error: Error) => error.message,
  )
  const working = `SELECT count(*) AS n FROM pg_stat_activity
    WHERE query LIKE '%1000000%' AND state = 'active' AND pid <> pg_backend_pid()`
  const isWorking = async () => (await query<{ n: number }>(direct, working))[0]!.n === 1
  await waitFor(isWorking, { label: 'the query is being worked on' })
  relay.abandon()
  t.match(await ended, /does not answer/)
  await useAll()
})

t.test('A statement that waits for a lock fails at the limit of its pool', async t => {
  const { db } = await openPool({ lockMs: 300 })
  const holder = await openTransaction(direct)
  await execute(holder, 'LOCK TABLE kept')
  await t.rejects(execute(db, 'INSERT INTO kept VALUES (0)'), { code: '55P03' })
  await holder.rollback()
})

t.test('PostgreSQL ends a transaction in which nothing happens, so that its locks do not stop others', async t => {
  const { db, useAll } = await openPool({ max: 1 })
  const unlimited = createPostgres(url, { lockMs: null })
  t.teardown(() => unlimited.destroy())
  const stuck = db.transaction(async tx => {
    await query(tx, 'SELECT pg_advisory_xact_lock(1)')
    // waits until the lock is free
    await query(unlimited, 'SELECT pg_advisory_lock(1), pg_advisory_unlock(1)')
    await query(tx, 'SELECT 1')
  })
  await t.rejects(stuck, 'what it does next fails')
  await useAll()
  t.pass('the pool works afterwards')
})

t.test('BEGIN and COMMIT fail on a dead connection as well', async t => {
  const { relay, db } = await openPool({ max: 1 })
  relay.abandon()
  await t.rejects(db.transaction(async tx => execute(tx, 'INSERT INTO kept VALUES (1)')))
  await t.rejects(
    db.transaction(async tx => {
      await execute(tx, 'INSERT INTO kept VALUES (2)')
      relay.abandon()
    }),
  )
  t.same(await keptRows(), [])
})

t.test('A transaction whose COMMIT is lost ends as the database reports it', async t => {
  const { relay, db } = await openPool()
  const asked = withSetting(db, 'picket.test', 'yes')
  await t.rejects(
    asked.transaction(async tx => {
      await execute(tx, 'INSERT INTO kept VALUES (3)')
      relay.abandon()
    }),
    { name: 'Error' },
  )
  t.same(await keptRows(), [], 'it was not committed, and an error says so')
  await asked.transaction(tx => execute(tx, 'INSERT INTO kept VALUES (4)'))
  t.same(await keptRows(), [4])
})

t.test('A listener with a dead connection reconnects and receives notifications', async t => {
  const relay = await startTcpRelay(t, url)
  const received: string[] = []
  const timing = { askEveryMs: 200, answerMs: 1_000 }
  const log = createLog('test', 'silent')
  const listener = listenForNotifications(
    relay.url,
    ['news'],
    (_channel, payload) => received.push(payload),
    log,
    timing,
  )
  t.teardown(() => listener.stop())
  await waitFor(() => received.length === 1, { label: 'it listens' })
  relay.abandon()
  await waitFor(() => received.length === 2, { label: 'it listens again' })
  await execute(direct, `NOTIFY news, 'something'`)
  await waitFor(() => received.at(-1) === 'something', { label: 'the news' })
})

t.test('A listener reconnects immediately when other connections of its process are dead', async t => {
  const suspicion = createStaleConnectionSignal()
  const { relay, db } = await openPool({ suspicion })
  let received = 0
  const options = { askEveryMs: 3_600_000, suspicion }
  const listener = listenForNotifications(relay.url, ['news'], () => received++, createLog('test', 'silent'), options)
  t.teardown(() => listener.stop())
  await waitFor(() => received === 1, { label: 'it listens' })
  relay.abandon()
  await t.rejects(query(db, 'SELECT 1'))
  await waitFor(() => received === 2, { label: 'it listens again' })
})
