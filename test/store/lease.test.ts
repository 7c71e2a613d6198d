import t from 'tap'
import {
  createPostgres,
  execute,
  hasRows,
  query,
  type Tx,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  buildClaimableSql,
  claimRows,
  type LeasedTable,
  type LeaseRequest,
  lockHeldRows,
  updateHeldRow,
} from '../../control-plane/foundation/platform/postgres/lease.ts'
import { createDatabase } from '../support/database.ts'
import { runWhileLocked } from '../support/while-held.ts'

const db = createPostgres((await createDatabase(t)).url, 8)
t.teardown(() => db.destroy())
await execute(
  db,
  `CREATE TABLE jobs (id text PRIMARY KEY, due_at timestamptz, lease_until timestamptz, lease_owner text,
     claims integer NOT NULL DEFAULT 0, is_paused boolean NOT NULL DEFAULT false, result text)`,
)

const start = new Date('2026-11-21T10:00:00Z')
const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
const LEASE_MS = 30_000

/** A lease with an owner and an end of its own. */
const OWNED = {
  table: 'jobs',
  key: 'id',
  dueAt: 'due_at',
  leaseEnd: 'lease_until',
  changes: 'lease_owner = :owner',
  holder: 'lease_owner',
}
/** A lease that moves the due time, with a number of claims. */
const COUNTED = { table: 'jobs', key: 'id', dueAt: 'due_at', changes: 'claims = claims + 1', holder: 'claims' }

const KINDS = { 'a lease with an end of its own': OWNED, 'a lease that moves the due time': COUNTED }

/** Replaces all jobs; each is due at a number of seconds, or never. */
async function replaceJobs(jobs: Record<string, number | null>): Promise<void> {
  await execute(db, 'DELETE FROM jobs')
  for (const [id, due] of Object.entries(jobs))
    await execute(db, 'INSERT INTO jobs (id, due_at) VALUES (?, ?)', [id, due === null ? null : at(due)])
}

/** The ids of claimed jobs, sorted. */
async function claim(leased: LeasedTable, request: Partial<LeaseRequest> = {}): Promise<string[]> {
  const defaults = { now: start, leaseMs: LEASE_MS, limit: 100, owner: 'one' }
  const rows = await claimRows<{ id: string }>(db, leased, 'id', { ...defaults, ...request })
  return rows.map(({ id }) => id).sort()
}

const readJob = async (id: string) =>
  (
    await query<{ dueAt: Date; leaseEnd: Date; result: string | null }>(
      db,
      'SELECT due_at AS "dueAt", lease_until AS "leaseEnd", result FROM jobs WHERE id = ?',
      [id],
    )
  )[0]!

for (const [kind, leased] of Object.entries(KINDS)) {
  t.test(`${kind}: a due row is claimed by one of several processes that claim at the same time`, async t => {
    const ids = Array.from({ length: 40 }, (_, number) => String(number).padStart(2, '0'))
    await replaceJobs(Object.fromEntries(ids.map(id => [id, 0])))
    const owners = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const claims = await Promise.all(owners.map(owner => claim(leased, { owner, limit: 5 })))
    const first = claims.flat()
    t.equal(new Set(first).size, first.length, 'no row is claimed twice')
    t.same([...first, ...(await claim(leased))].sort(), ids, 'and none is left out')
    t.same(await claim(leased), [])
  })

  t.test(
    `${kind}: the longest due rows are claimed first, up to the limit, and rows that are not due never`,
    async t => {
      await replaceJobs({ c: -3, a: -2, b: -1, now: 0, later: 1, never: null })
      t.same(await claim(leased, { limit: 2 }), ['a', 'c'])
      t.same(await claim(leased, { limit: 2 }), ['b', 'now'])
      t.same(await claim(leased, { limit: 2 }), [])
      t.same(await claim(leased, { now: at(1) }), ['later'])
    },
  )

  t.test(`${kind}: a row is claimed again when its lease has ended, not before`, async t => {
    await replaceJobs({ a: 0 })
    t.same(await claim(leased), ['a'])
    t.same(await claim(leased, { now: at(29.999) }), [])
    t.same(await claim(leased, { now: at(30) }), ['a'])
    t.same(await claim(leased, { now: at(59.999) }), [])
  })

  t.test(`${kind}: a locked row is skipped without waiting`, async t => {
    await replaceJobs({ locked: -1, free: 0 })
    await db.transaction(async tx => {
      await query(tx, `SELECT FROM jobs WHERE id = 'locked' FOR NO KEY UPDATE`)
      t.same(await claim(leased, { limit: 1 }), ['free'])
    })
    t.same(await claim(leased), ['locked'])
  })

  t.test(`${kind}: a row that is changed during a claim is claimed with its change`, async t => {
    await replaceJobs({ a: 0, b: 0 })
    // the claim finds both rows before the change is committed, and locks them after it
    const claiming = { ...leased, condition: 'pg_advisory_xact_lock_shared(1) IS NOT NULL' }
    const change = async (tx: Tx) => {
      await query(tx, 'SELECT pg_advisory_xact_lock(1)')
      await execute(tx, `UPDATE jobs SET result = 'changed' WHERE id = 'b'`)
    }
    t.same(await runWhileLocked(db, change, () => claim(claiming)), ['a', 'b'])
    t.match(await readJob('b'), { result: 'changed' })
    t.same(await claim(leased), [])
  })

  t.test(`${kind}: a query finds claimable rows as a claim does`, async t => {
    const isAny = (now: Date) => hasRows(db, `SELECT ${buildClaimableSql(leased)}`, { now })
    await replaceJobs({ a: 0 })
    t.same([await isAny(at(-1)), await isAny(start)], [false, true])
    await claim(leased)
    t.same([await isAny(at(29)), await isAny(at(30))], [false, true])
  })
}

t.test(
  'a lease that moves the due time leaves other columns alone, and one with an end leaves the due time',
  async t => {
    await replaceJobs({ a: 0 })
    await claim(OWNED)
    t.match(await readJob('a'), { dueAt: start, leaseEnd: at(30) })
    await replaceJobs({ a: 0 })
    await claim(COUNTED)
    t.match(await readJob('a'), { dueAt: at(30), leaseEnd: null })
  },
)

t.test('rows that the condition excludes are not claimed', async t => {
  await replaceJobs({ a: 0, paused: 0 })
  await execute(db, `UPDATE jobs SET is_paused = true WHERE id = 'paused'`)
  t.same(await claim({ ...OWNED, condition: 'NOT t.is_paused' }), ['a'])
})

t.test('a row without a due time is claimed first where it counts as due', async t => {
  await replaceJobs({ a: 0, b: null, later: 1 })
  const leased = { ...COUNTED, isNullDue: true }
  t.same(await claim(leased, { limit: 1 }), ['b'])
  t.same(await claim(leased), ['a'])
  t.same(await claim(leased), [])
})

t.test('without a time, PostgreSQL’s clock decides what is due and when the lease ends', async t => {
  await replaceJobs({})
  await execute(
    db,
    `INSERT INTO jobs (id, due_at, claims) VALUES ('past', now() - interval '1 s', 7), ('future', now() + interval '1 h', 0)`,
  )
  const leased = { ...OWNED, extraMs: 't.claims * 60000' }
  t.same(await claim(leased, { now: undefined, leaseMs: 60_000 }), ['past'])
  t.same(await claim(leased, { now: undefined }), [])
  const [row] = await query<{ seconds: number }>(
    db,
    `SELECT CAST(extract(epoch FROM lease_until - clock_timestamp()) AS float8) AS seconds FROM jobs WHERE id = 'past'`,
  )
  t.ok(row!.seconds > 180 && row!.seconds <= 480, `${row!.seconds} s: one minute, and seven of the row`)
})

t.test('a process that lost its lease cannot lock or write the row', async t => {
  await replaceJobs({ a: 0, b: 1 })
  const finish = (owner: string, result: string) =>
    updateHeldRow(db, OWNED, { key: 'a', holder: owner }, 'result = :result, lease_owner = NULL', { result })
  const lock = (owner: string) =>
    db.transaction(tx => lockHeldRows<{ id: string }>(tx, OWNED, 'id', { keys: ['b', 'a'], holder: owner }))
  // the lease of `a` ends before the one of `b`
  for (const second of [0, 1]) await claim(OWNED, { owner: 'one', now: at(second) })
  t.same(await lock('one'), [{ id: 'a' }, { id: 'b' }])
  // the second process claims one of the two
  await claim(OWNED, { owner: 'two', now: at(30), limit: 1 })
  const [mine] = await lock('two')
  t.same(mine, { id: 'a' })
  t.same(await lock('one'), [{ id: 'b' }])
  t.equal(await finish('one', 'old'), false)
  t.match(await readJob('a'), { result: null })
  t.equal(await finish('two', 'new'), true)
  t.equal(await finish('two', 'again'), false, 'a finished row is no longer leased')
  t.match(await readJob('a'), { result: 'new' })
})

t.test('a lease may be identified by a number of claims or by its end', async t => {
  await replaceJobs({ a: 0 })
  const claimOnce = async (seconds: number) => {
    const request = { now: at(seconds), leaseMs: LEASE_MS, limit: 1 }
    const columns = 'claims, due_at AS "leaseEnd"'
    return (await claimRows<{ claims: number; leaseEnd: Date }>(db, COUNTED, columns, request))[0]!
  }
  const [lost, held] = [await claimOnce(0), await claimOnce(31)]
  const write = (column: string, holder: number | Date) =>
    updateHeldRow(db, { ...COUNTED, holder: column }, { key: 'a', holder }, 'result = :result', { result: column })
  t.same([await write('claims', lost.claims), await write('due_at', lost.leaseEnd)], [false, false])
  t.same([await write('claims', held.claims), await write('due_at', held.leaseEnd)], [true, true])
})
