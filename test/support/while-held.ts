import { type Db, query, type Tx } from '../../control-plane/foundation/platform/postgres/client.ts'
import { keepOpen } from './open-transaction.ts'
import { waitFor } from './wait.ts'

/** Lets `others` wait for the locks of `change`, then runs `finish` and commits. Returns the results of the others. */
export async function runWhileLocked<T>(
  db: Db,
  change: (tx: Tx) => Promise<unknown>,
  others: () => Promise<T>,
  finish: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<T> {
  const under = await db.transaction(async tx => {
    // on a slow machine the others may start late
    await keepOpen(tx)
    await change(tx)
    const waiting = others()
    // it may reject before the end of this transaction is known here
    waiting.catch(() => {})
    await waitFor(() => isLockAwaited(db), { label: 'a transaction that waits for the lock' })
    await finish(tx)
    return { waiting }
  })
  return under.waiting
}

async function isLockAwaited(db: Db): Promise<boolean> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await query(db, sql)).length > 0
}
