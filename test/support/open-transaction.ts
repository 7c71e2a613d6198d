import { type Db, execute, query, type Tx } from '../../control-plane/foundation/platform/postgres/client.ts'
import { waitFor } from './wait.ts'

/**
 * Begins a transaction that PostgreSQL keeps open, however long the test waits in it. It ends one of a pool after ten
 * seconds without a statement, and on a slow machine what a test waits for can take longer.
 */
export async function openTransaction(db: Db): Promise<Tx> {
  const tx = await db.transaction()
  await keepOpen(tx)
  return tx
}

/** The same for a transaction that has begun. */
export async function keepOpen(tx: Tx): Promise<void> {
  await execute(tx, 'SET LOCAL idle_in_transaction_session_timeout = 0')
}

/** Resolves when a statement in the database waits for a lock. */
export async function waitForLock(db: Db): Promise<void> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await waitFor(async () => (await query(db, sql)).length > 0, { label: 'a statement that waits for a lock' })
}
