import t from 'tap'
import { migrate } from '../../control-plane/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/platform/postgres.ts'
import { createDatabase } from '../support/database.ts'

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

t.test('processes that start at the same moment bring an empty database to the newest schema together', async t => {
  const wanted = await tables()
  t.ok(wanted.length > 100)
  await execute(db, 'DROP SCHEMA public CASCADE')
  await execute(db, 'CREATE SCHEMA public')
  await Promise.all([migrate(url), migrate(url), migrate(url)])
  t.same(await tables(), wanted)
})

t.test('a process that was killed while it migrated locks nobody out', async t => {
  await execute(db, 'UPDATE knex_migrations_lock SET is_locked = 1')
  await migrate(url)
  t.match(await query(db, 'SELECT is_locked FROM knex_migrations_lock'), [{ is_locked: 0 }])
})

t.test('a process of an older version starts on a database that a newer one has brought further', async t => {
  const before = await tables()
  await execute(
    db,
    "INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999-of-the-future', 99, now())",
  )
  await migrate(url)
  t.same(await tables(), before)
})
