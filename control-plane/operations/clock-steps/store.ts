import { type Db, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { PlannedWait } from './planned-waits.ts'

/** Rows that one statement changes at most. */
const ROWS_PER_STATEMENT = 1_000
/** By so much a wait may be longer than its limit: what was planned was computed a moment ago. */
const TOLERANCE = `interval '2 s'`

/**
 * Shortens waits that are longer than their longest, to their longest, by PostgreSQL's clock. Rows that are locked are
 * left out. Returns how many were changed.
 */
export async function shortenWaits(
  db: Db | Tx,
  wait: PlannedWait,
  settings: { vendorSeconds: number },
): Promise<number> {
  const { table, column, maxWait } = wait
  let changed = 0
  for (;;) {
    const rows = await query(
      db,
      `WITH late AS (
         SELECT t.ctid AS place FROM ${table} t
         WHERE t.${column} > clock_timestamp() + ${maxWait} + ${TOLERANCE}
         LIMIT ${ROWS_PER_STATEMENT} FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE ${table} t SET ${column} = clock_timestamp() + ${maxWait} FROM late WHERE t.ctid = late.place
       RETURNING true`,
      settings,
    )
    changed += rows.length
    if (rows.length < ROWS_PER_STATEMENT) return changed
  }
}
