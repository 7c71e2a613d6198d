import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import {
  createPostgres,
  execute,
  query,
  queryPrepared,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { hasRowsJoined, readJoined } from '../../control-plane/foundation/platform/postgres/joined-reads.ts'
import { ALIGNED, startLoop } from '../../control-plane/foundation/platform/time/loop.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { countRounds } from '../support/rounds.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

const db = createPostgres((await createDatabase(t)).url, 1)
t.teardown(() => db.destroy())
await execute(db, 'CREATE TABLE jobs (id integer PRIMARY KEY, due_at timestamptz)')
const log = createLog('test', 'silent')

/** The statements that were sent since. */
function recordStatements(t: Teardown): string[] {
  const statements: string[] = []
  const note = ({ sql }: { sql: string }) => void statements.push(sql)
  db.on('query', note)
  t.teardown(() => void db.removeListener('query', note))
  return statements
}

t.test('Values that are read in one turn are read by one statement, each with its own bindings', async t => {
  await execute(db, `INSERT INTO jobs VALUES (1, '2026-11-21T10:00:00Z'), (2, '2026-11-21T11:00:00Z')`)
  const statements = recordStatements(t)
  const at = new Date('2026-11-21T10:30:00Z')
  t.same(
    await Promise.all([
      hasRowsJoined(db, 'SELECT FROM jobs WHERE due_at <= :at AND due_at <= :at AND id = :id', { at, id: 1 }),
      hasRowsJoined(db, 'SELECT FROM jobs WHERE due_at <= ? AND id = ?', [at, 2]),
      readJoined<Date>(db, 'SELECT min(due_at) FROM jobs'),
      readJoined(db, 'SELECT due_at FROM jobs WHERE id = ?', [3]),
      readJoined(db, `SELECT jsonb_build_object('one', id) FROM jobs WHERE id = ?`, [1]),
    ]),
    [true, false, new Date('2026-11-21T10:00:00Z'), null, { one: 1 }],
  )
  t.equal(statements.length, 1)
  t.equal(await hasRowsJoined(db, 'SELECT FROM jobs WHERE id = ?', [2]), true)
  await turn()
  t.equal(statements.length, 2, 'what is read later is read by a statement of its own')
})

t.test('A question that fails does not stop the others', async t => {
  const ends = await Promise.allSettled([
    hasRowsJoined(db, 'SELECT FROM jobs WHERE id = ?', [1]),
    hasRowsJoined(db, 'SELECT FROM missing'),
    readJoined<number>(db, 'SELECT id FROM jobs'),
    readJoined<number>(db, 'SELECT max(id) FROM jobs'),
  ])
  t.match(ends, [
    { status: 'fulfilled', value: true },
    { status: 'rejected', reason: /missing/ },
    { status: 'rejected', reason: /more than one row/ },
    { status: 'fulfilled', value: 2 },
  ])
})

t.test('In a transaction, reads see its changes', async t => {
  await db.transaction(async tx => {
    await execute(tx, 'INSERT INTO jobs VALUES (9, now())')
    t.same(await Promise.all([hasRowsJoined(tx, 'SELECT FROM jobs WHERE id = 9'), readJoined(tx, 'SELECT 1')]), [
      true,
      1,
    ])
  })
})

t.test('Aligned loops ask with one statement, and find work that no notification announced', async t => {
  await execute(db, 'DELETE FROM jobs')
  const metrics = createMetrics()
  const found: string[] = []
  const startAsking = (name: string, intervalMs: number) => {
    const round = async () => {
      if (await hasRowsJoined(db, 'SELECT FROM jobs WHERE due_at <= now()')) found.push(name)
    }
    const loop = startLoop(name, intervalMs, { log, metrics }, round, ALIGNED)
    t.teardown(() => loop.stop())
  }
  const rounds = async (name: string) => countRounds(metrics, name, 'ok')
  startAsking('first', 1_000)
  await waitFor(async () => (await rounds('first')) > 0)
  // begins between two rounds of the first
  startAsking('second', 1_000)
  startAsking('rare', 2_000)
  await waitFor(async () => (await rounds('rare')) > 1)
  const statements = recordStatements(t)
  const before = (await rounds('first')) + (await rounds('second'))
  await waitFor(async () => (await rounds('rare')) > 4)
  const asked = (await rounds('first')) + (await rounds('second')) - before
  t.ok(
    statements.length <= asked / 2 + 1,
    `${statements.length} statements for ${asked} rounds of two loops and more of a third`,
  )
  await execute(db, 'INSERT INTO jobs VALUES (1, now())')
  await waitFor(() => ['first', 'second', 'rare'].every(name => found.includes(name)))
})

t.test('A statement that runs often is planned under its name, once on each connection', async t => {
  const count = (id: number) =>
    queryPrepared<{ n: number }>(db, 'count-jobs', 'SELECT count(*) AS n FROM jobs WHERE id = :id', { id })
  t.same([await count(1), await count(2), await count(1)], [[{ n: 1 }], [{ n: 0 }], [{ n: 1 }]])
  const [prepared] = await query<{ calls: number }>(
    db,
    `SELECT generic_plans + custom_plans AS calls FROM pg_prepared_statements WHERE name = 'count-jobs'`,
  )
  t.equal(prepared?.calls, 3)
})
