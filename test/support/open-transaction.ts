import { type Db, execute, type Tx } from '../../control-plane/foundation/platform/postgres/client.ts'

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
