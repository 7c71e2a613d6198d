import t from 'tap'
import { createPostgres, query, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 90 s

/*
 * Run it on a quiet machine. Under load a lease is renewed less often than other loops run: 15 transactions between two
 * renewals were measured.
 */

/** Renewals of the leases of partitions, every 1.5 s. */
const RENEWALS = 40
/** Measured with three regions: 6.3. It was 8 when each loop asked by itself whether anything is due. */
const MAX_COMMITS_PER_RENEWAL = 8

t.test('A control plane with nothing to check commits few transactions between two renewals of its leases', async t => {
  const picket = await startPicket(t)
  const db = createPostgres(picket.databaseUrl, 1)
  t.teardown(() => db.destroy())
  let asked = 0
  const readRenewal = async () => {
    asked++
    const [row] = await query<{ at: string }>(db, 'SELECT CAST(max(updated_at) AS text) AS at FROM partitions')
    return row!.at
  }
  let last = await readRenewal()
  let seen = 0
  const untilRenewals = (count: number) =>
    waitFor(
      async () => {
        const at = await readRenewal()
        if (at !== last) seen++
        last = at
        return seen >= count
      },
      { everyMs: 250 },
    )
  await untilRenewals(10)
  const before = { commits: await countCommits(picket.databaseUrl), asked, seen }
  await untilRenewals(before.seen + RENEWALS)
  const commits = (await countCommits(picket.databaseUrl)) - before.commits - (asked - before.asked)
  const perRenewal = commits / (seen - before.seen)
  t.comment(`${perRenewal.toFixed(1)} transactions between two renewals`)
  t.ok(perRenewal > 1, 'the transactions of the control plane are counted')
  t.ok(perRenewal <= MAX_COMMITS_PER_RENEWAL, `${perRenewal.toFixed(1)} of at most ${MAX_COMMITS_PER_RENEWAL}`)
})

/** The committed transactions of a database, asked from another one. */
function countCommits(databaseUrl: string): Promise<number> {
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  return withPostgres(url.href, async db => {
    const [row] = await query<{ commits: number }>(
      db,
      'SELECT xact_commit AS commits FROM pg_stat_database WHERE datname = ?',
      [name],
    )
    return row!.commits
  })
}
