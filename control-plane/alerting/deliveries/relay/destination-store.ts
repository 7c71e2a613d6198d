import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'

/** Locks the circuits of destinations. Returns them by the id of the destination. */
export async function lockCircuits(tx: Tx, ids: string[]): Promise<Map<string, CircuitBreaker>> {
  const rows = await query<CircuitBreaker & { id: string }>(
    tx,
    `SELECT id, consecutive_failures AS "consecutiveFailures", opened_at AS "openedAt", next_trial_at AS "nextTrialAt"
     FROM relay_destinations WHERE id = ANY (:ids) ORDER BY id FOR UPDATE`,
    { ids: [...new Set(ids)] },
  )
  return new Map(rows.map(({ id, ...circuit }) => [id, circuit]))
}

export async function storeCircuits(tx: Tx, circuits: Map<string, CircuitBreaker>, now: Date): Promise<void> {
  const rows = [...circuits].map(([id, circuit]) => ({ id, ...circuit }))
  await execute(
    tx,
    `UPDATE relay_destinations o SET consecutive_failures = r."consecutiveFailures", opened_at = r."openedAt",
       next_trial_at = r."nextTrialAt", updated_at = :now
     FROM jsonb_to_recordset(:rows::jsonb)
       AS r (id uuid, "consecutiveFailures" integer, "openedAt" timestamptz, "nextTrialAt" timestamptz)
     WHERE o.id = r.id`,
    { rows: JSON.stringify(rows), now },
  )
}

/** A destination of the relay: `waiting` and `dead` count its messages. */
export type RelayDestination = CircuitBreaker & {
  id: string
  origin: string
  waiting: number
  dead: number
  createdAt: Date
  updatedAt: Date
}

/** One page of a project's destinations, ordered by origin, and the total. */
export async function listDestinations(
  db: Db,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: RelayDestination[]; total: number }> {
  const rows = await query<RelayDestination>(
    db,
    `SELECT o.id, o.origin, o.consecutive_failures AS "consecutiveFailures", o.opened_at AS "openedAt",
       o.next_trial_at AS "nextTrialAt", o.created_at AS "createdAt", o.updated_at AS "updatedAt",
       (SELECT count(*) FROM relay_messages WHERE destination_id = o.id) AS waiting,
       (SELECT count(*) FROM deliveries
        WHERE project_id = o.project_id AND relay_origin = o.origin AND status = 'dead') AS dead
     FROM relay_destinations o WHERE o.project_id = ? ORDER BY o.origin LIMIT ? OFFSET ?`,
    [projectId, limit, offset],
  )
  const sql = 'SELECT count(*) AS total FROM relay_destinations WHERE project_id = ?'
  const [counted] = await query<{ total: number }>(db, sql, [projectId])
  return { rows, total: counted?.total ?? 0 }
}
