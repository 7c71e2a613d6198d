import { type Db, execute } from '../../../foundation/platform/postgres/client.ts'
import { DRAIN_DURATION_MS } from '../probes/drain-store.ts'

/** Probes belong to the operator, not to a project: none of these statements reads a tenant's data. */

const MAX_DRAIN = `interval '${DRAIN_DURATION_MS} ms'`

/** SQL of the ids of probes with times that are still to come: PostgreSQL's clock was ahead when they were written. */
export const PROBES_AHEAD_SQL = `
  SELECT id FROM probes
  WHERE GREATEST(last_seen_at, connected_at, drained_until - ${MAX_DRAIN}) > now() + interval '1 second'`

/**
 * Moves times that are still to come to now, so that silence and connections count from now, and drains last an hour from
 * now. `created_at` moves too, because equal times mark the first connection of a probe. Rows that another process is
 * writing are skipped. Returns the number of changed probes.
 */
export function moveTimesToNow(db: Db): Promise<number> {
  return execute(
    db,
    `UPDATE probes SET last_seen_at = LEAST(last_seen_at, now()), connected_at = LEAST(connected_at, now()),
       created_at = LEAST(created_at, now()),
       drained_until = CASE WHEN drained_until > now() + ${MAX_DRAIN} THEN now() + ${MAX_DRAIN} ELSE drained_until END
     WHERE id IN (${PROBES_AHEAD_SQL} FOR NO KEY UPDATE SKIP LOCKED)`,
  )
}
