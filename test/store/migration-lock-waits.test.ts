import t from 'tap'
import {
  findMissingMigrations,
  type MigrationProgress,
  migratePostgres,
} from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

/** Longer than a migration waits for a lock, on a slow machine. Without a limit the wait lasts as long as the dump. */
const ANSWER_MS = 60_000

/** Makes a migration that alters `monitors` one that is missing. */
async function forgetWitness(): Promise<void> {
  await execute(db, 'ALTER TABLE monitors DROP COLUMN witness CASCADE, DROP COLUMN witness_with_credentials')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0039-witness'`)
}

const hasWitness = async () =>
  (await query(db, `SELECT FROM information_schema.columns WHERE table_name = 'monitors' AND column_name = 'witness'`))
    .length === 1

/** Reads `monitors` as pg_dump does, in a transaction that is open until the end of the dump. */
async function startDump() {
  const dump = await openTransaction(db)
  await execute(dump, `SET LOCAL application_name = 'pg_dump'`)
  await execute(dump, 'LOCK TABLE monitors IN ACCESS SHARE MODE')
  return dump
}

t.test('While a dump holds a table that a migration alters, queries of other sessions are answered', async t => {
  await forgetWitness()
  const dump = await startDump()
  const reports: MigrationProgress[] = []
  const migrating = migratePostgres(url, progress => reports.push(progress))
  const locked = () => reports.filter(({ event }) => event === 'migration_locked')
  const isWaiting = async () =>
    (
      await query(
        db,
        `SELECT FROM pg_locks WHERE relation = 'monitors'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`,
      )
    ).length > 0
  await waitFor(isWaiting, { label: 'a migration that waits for the lock' })
  const limited = await openTransaction(db)
  await execute(limited, `SELECT set_config('statement_timeout', ?, true)`, [String(ANSWER_MS)])
  t.same(await query(limited, 'SELECT count(*) AS n FROM monitors'), [{ n: 0 }])
  await limited.rollback()
  t.notOk(await hasWitness())

  await waitFor(() => locked().some(report => 'table' in report && report.table === 'monitors'), {
    label: 'a report that names the table',
  })
  t.match(
    locked().find(report => 'table' in report && report.table === 'monitors'),
    { migration: '0039-witness', heldBy: [/^pg_dump \(process \d+\)/] },
  )
  await dump.rollback()
  await migrating
  t.ok(await hasWitness())
  const [first] = reports
  t.match(first, { event: 'migration_running', migration: '0039-witness', seconds: 0 })
})

t.test('Other processes wait for a migration that waits for a dump, and start after it', async t => {
  await forgetWitness()
  const dump = await startDump()
  const events: string[] = []
  const both = Promise.all([1, 2].map(() => migratePostgres(url, ({ event }) => events.push(event))))
  await waitFor(() => events.includes('migration_locked') && events.includes('migration_waiting'), {
    label: 'a process that waits for the lock, and one that waits for that process',
  })
  await dump.rollback()
  await both
  t.ok(await hasWitness())
})

t.test('Missing migrations are found without applying them, and after the end of one that is running', async t => {
  t.same(await findMissingMigrations(url, () => {}), [])
  await forgetWitness()
  t.same(await findMissingMigrations(url, () => {}), ['0039-witness'])
  t.notOk(await hasWitness())

  const dump = await startDump()
  const events: string[] = []
  const migrating = migratePostgres(url, ({ event }) => events.push(event))
  await waitFor(() => events.includes('migration_locked'), { label: 'a migration that waits' })
  const finding = findMissingMigrations(url, ({ event }) => events.push(event))
  await waitFor(() => events.includes('migration_waiting'), { label: 'a reader that waits for the migration' })
  await dump.rollback()
  await migrating
  t.same(await finding, [])

  await execute(db, 'DROP SCHEMA public CASCADE')
  await execute(db, 'CREATE SCHEMA public')
  t.equal(await findMissingMigrations(url, () => {}), null, 'an empty database')
})
