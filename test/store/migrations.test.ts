import t from 'tap'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const tables = async () =>
  (
    await query<{ name: string }>(
      db,
      `SELECT table_name || '.' || column_name || ' ' || data_type AS name FROM information_schema.columns
       WHERE table_schema = 'public' ORDER BY name`,
    )
  ).map(({ name }) => name)

t.test('Processes that start together migrate an empty database', async t => {
  const wanted = await tables()
  t.ok(wanted.length > 100)
  await execute(db, 'DROP SCHEMA public CASCADE')
  await execute(db, 'CREATE SCHEMA public')
  await Promise.all([migratePostgres(url), migratePostgres(url), migratePostgres(url)])
  t.same(await tables(), wanted)
})

t.test('A process killed during a migration blocks no other', async t => {
  await execute(db, 'UPDATE knex_migrations_lock SET is_locked = 1')
  await migratePostgres(url)
  t.match(await query(db, 'SELECT is_locked FROM knex_migrations_lock'), [{ is_locked: 0 }])
})

t.test('A process can start while another one has created one of the tables of knex', async t => {
  const before = await tables()
  await execute(db, 'DROP TABLE knex_migrations_lock')
  await migratePostgres(url)
  t.same(await tables(), before)
})

t.test('A process of an older version starts on a database of a newer one', async t => {
  const before = await tables()
  await execute(
    db,
    "INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999-of-the-future', 99, now())",
  )
  await migratePostgres(url)
  t.same(await tables(), before)
})

t.test('A migration may take longer than the idle timeout of transactions, and other processes wait', async t => {
  const wanted = await tables()
  await execute(db, 'DROP SCHEMA public CASCADE')
  await execute(db, 'CREATE SCHEMA public')
  // the first migrations cannot create a table of that name while this transaction is open
  const inTheWay = await openTransaction(db)
  await execute(inTheWay, 'CREATE TABLE organizations ()')
  const both = Promise.all([migratePostgres(url), migratePostgres(url)])
  const isWaiting = async () =>
    (
      await query(
        db,
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
           AND now() - state_change > interval '11 seconds' AND query LIKE '%advisory_xact_lock%'`,
      )
    ).length > 0
  await waitFor(isWaiting, { label: 'the transaction with the lock to be idle for eleven seconds' })
  await inTheWay.rollback()
  await both
  t.same(await tables(), wanted)
})
