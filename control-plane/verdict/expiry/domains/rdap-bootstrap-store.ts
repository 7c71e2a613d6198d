import { type Db, execute, query } from '../../../foundation/platform/postgres/client.ts'

/** The fetched bootstrap document; null before the first fetch. */
export async function findRdapDocument(db: Db): Promise<unknown> {
  const [row] = await query<{ document: unknown }>(db, 'SELECT document FROM rdap_bootstrap')
  return row?.document ?? null
}

/**
 * Claims a fetch that is due; the next one is then due at `retryAt`. Returns true for one process only. The table has one
 * row, so there is nothing to skip, and `claimRows` is not needed.
 */
export async function claimRdapFetch(db: Db, retryAt: Date, now: Date): Promise<boolean> {
  const sql = 'UPDATE rdap_bootstrap SET next_fetch_at = :retryAt WHERE next_fetch_at <= :now'
  return (await execute(db, sql, { retryAt, now })) === 1
}

export async function storeRdapDocument(db: Db, document: string, nextFetchAt: Date, now: Date): Promise<void> {
  await execute(
    db,
    'UPDATE rdap_bootstrap SET document = :document::jsonb, fetched_at = :now, next_fetch_at = :nextFetchAt',
    { document, nextFetchAt, now },
  )
}
