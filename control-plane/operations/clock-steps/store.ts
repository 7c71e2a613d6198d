import { type Db, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { PlannedWait } from './planned-waits.ts'

/** The maximum number of rows that one statement changes. */
const ROWS_PER_STATEMENT = 1_000
/** A wait may exceed its limit by this much, because the plan was computed a moment ago. */
const TOLERANCE = `interval '2 s'`

/**
 * Shortens waits that are longer than `maxWait` to `maxWait`, by PostgreSQL's clock. Locked rows are skipped. Returns the
 * number of changed rows.
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
