import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { testEnv } from '../support/picket.ts'
import { startProgram } from '../support/processes.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const start = (...args: string[]) =>
  startProgram(t, { program: 'dist/admin.js', args, env: { ...testEnv(), DATABASE_URL: url } })

async function run(...args: string[]) {
  const program = start(...args)
  return { code: await program.exited, lines: program.lines }
}

/** As before the upgrade to the version with this migration. */
async function undoLast(): Promise<void> {
  await execute(db, 'ALTER TABLE memberships DROP COLUMN entered_at')
  await execute(db, 'ALTER TABLE claim_links DROP COLUMN organization_id')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0072-entered-organizations'`)
}

const isMigrated = async () =>
  (await query(db, `SELECT FROM knex_migrations WHERE name = '0072-entered-organizations'`)).length === 1

t.test('A command on a database of an earlier version names what is missing and changes nothing', async t => {
  await undoLast()
  for (const args of [
    ['probe', 'list'],
    ['bootstrap', '--email', 'a@example.com'],
  ]) {
    t.match(await run(...args), {
      code: 1,
      lines: [
        {
          text: /^PostgreSQL at \S+ \(DATABASE_URL\) has the schema of an earlier version: 0072-entered-organizations is missing; back up the database, then start a control plane of this version or run the command "migrate"$/,
        },
      ],
    })
  }
  t.notOk(await isMigrated())
})

t.test('The command "migrate" says what it waits for, and brings the schema up to date', async t => {
  const dump = await openTransaction(db)
  await execute(dump, 'LOCK TABLE memberships IN ACCESS SHARE MODE')
  const migrating = start('migrate')
  const hasPrinted = (text: string) => migrating.lines.some(line => line.text?.includes(text))
  await waitFor(() => hasPrinted('0072-entered-organizations'), { label: 'a line about the lock' })
  // the command waits for the migration of another process, which may be the first start of a control plane
  const listing = start('probe', 'list')
  await waitFor(() => listing.lines.some(({ text }) => text === 'waiting for the migration of another process'), {
    label: 'a line about the other process',
  })
  await dump.rollback()
  t.equal(await migrating.exited, 0)
  t.match(migrating.lines.at(-1), { text: 'the schema of PostgreSQL is up to date' })
  t.equal(await listing.exited, 0)
  t.ok(await isMigrated())
  t.match(await run('probe', 'list'), { code: 0, lines: [] })
})

t.test('On an empty database the first command creates the schema', async t => {
  await execute(db, 'DROP SCHEMA public CASCADE')
  await execute(db, 'CREATE SCHEMA public')
  t.match(await run('bootstrap', '--email', 'first@example.com'), { code: 0, lines: [{ email: 'first@example.com' }] })
  t.ok(await isMigrated())
})
