import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import type { EventRow } from '../../events/catalog.ts'

/** Leaves the deliveries of these events to the fan-out, which makes them after the transaction, in this order. */
export async function insertFanOuts(tx: Tx, events: EventRow[]): Promise<void> {
  if (events.length === 0) return
  await execute(
    tx,
    `WITH added AS (
       INSERT INTO fan_outs (project_id, event_id)
       SELECT project_id, event_id
       FROM unnest(:projectIds::uuid[], :eventIds::uuid[]) WITH ORDINALITY AS e (project_id, event_id, number)
       ORDER BY number
     )
     SELECT pg_notify('fan_outs', '')`,
    { projectIds: events.map(event => event.projectId), eventIds: events.map(event => event.id) },
  )
}

/** All projects with waiting events, one step of the index each. */
export async function listWaitingProjects(db: Db): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `WITH RECURSIVE waiting AS (
       (SELECT project_id AS id FROM fan_outs ORDER BY project_id LIMIT 1)
       UNION ALL
       SELECT (SELECT f.project_id FROM fan_outs f WHERE f.project_id > waiting.id ORDER BY f.project_id LIMIT 1)
       FROM waiting WHERE waiting.id IS NOT NULL
     )
     SELECT id FROM waiting WHERE id IS NOT NULL`,
  )
  return rows.map(row => row.id)
}

/** How long a turn waits for a lock. */
const LOCK_TIMEOUT = '1s'

/**
 * Lets one transaction at a time fan out a project's events and group its changes (digests/store.ts). False when another
 * transaction does. Later locks of this transaction are waited for at most a second.
 */
export async function tryLockProjectTurn(tx: Tx, projectId: string): Promise<boolean> {
  const [row] = await query<{ isFree: boolean }>(
    tx,
    `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true),
       pg_try_advisory_xact_lock(${LOCK_KEYS.fanOuts}, hashtext(:projectId))
         AND pg_try_advisory_xact_lock(${LOCK_KEYS.digests}, hashtext(:projectId)) AS "isFree"`,
    { projectId },
  )
  return row!.isFree
}

/** A waiting event. `reached`: the last channel that has its delivery; null: none. `event` null: the event was deleted. */
export type FanOut = { seq: number; reached: string | null; event: EventRow | null }

/** The first waiting events of a project, in order. The caller holds the project's turn. */
export async function listFirstFanOuts(tx: Tx, projectId: string, limit: number): Promise<FanOut[]> {
  const rows = await query<EventRow & Pick<FanOut, 'seq' | 'reached'> & { id: string | null }>(
    tx,
    `SELECT f.seq, f.reached, e.id, e.project_id AS "projectId", e.name, e.subject, e.data,
       e.occurred_at AS "occurredAt"
     FROM fan_outs f LEFT JOIN events e ON e.id = f.event_id
     WHERE f.project_id = :projectId ORDER BY f.seq LIMIT :limit`,
    { projectId, limit },
  )
  return rows.map(({ seq, reached, ...event }) => ({ seq, reached, event: event.id === null ? null : event }))
}

export async function storeFanOutProgress(tx: Tx, seq: number, reached: string): Promise<void> {
  await execute(tx, 'UPDATE fan_outs SET reached = :reached WHERE seq = :seq', { seq, reached })
}

/** Deletes the waiting events whose deliveries are complete. Returns how many seconds each took. */
export async function endFanOuts(tx: Tx, seqs: number[]): Promise<number[]> {
  if (seqs.length === 0) return []
  const rows = await query<{ seconds: number }>(
    tx,
    `DELETE FROM fan_outs WHERE seq = ANY (?::bigint[])
     RETURNING extract(epoch FROM clock_timestamp() - noted_at)::float8 AS seconds`,
    [seqs],
  )
  return rows.map(row => row.seconds)
}

/** Keeps monitors from changing their status and from being deleted until the transaction ends. */
export async function holdMonitorRows(tx: Tx, monitorIds: string[]): Promise<void> {
  if (monitorIds.length === 0) return
  await query(tx, 'SELECT FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id FOR KEY SHARE', [monitorIds])
}
