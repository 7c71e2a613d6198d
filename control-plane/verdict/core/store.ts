import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { MONITOR_COLUMNS } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import type { ExplainedValue, Explanation, MonitorState, VerdictStatus } from './types.ts'

/** Writes the verdict states of monitors in one statement. */
export async function storeStates(tx: Tx, states: MonitorState[], now: Date): Promise<void> {
  if (states.length === 0) return
  await execute(
    tx,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at)
     SELECT m.id, m.partition, row.state, :now
     FROM jsonb_array_elements(CAST(:states AS jsonb)) AS row (state)
     JOIN monitors m ON m.id = (row.state->>'monitorId')::uuid
     ORDER BY m.id
     ON CONFLICT (monitor_id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at`,
    { states: JSON.stringify(states.map(toStoredState)), now },
  )
}

/** In memory the newest result serves as the high-water mark. It is reduced here, so that it is not stored twice. */
function toStoredState(state: MonitorState): MonitorState {
  const cells = state.cells.map(cell => {
    const { configVersion, epoch, scheduledAtMs, attempt } = cell.fence
    return { ...cell, fence: { configVersion, epoch, scheduledAtMs, attempt } }
  })
  return { ...state, cells }
}

/** Since when no check has counted, for those of the monitors that have no status because of that. */
export async function loadUncheckedSince(db: Db, monitorIds: string[]): Promise<Map<string, Date>> {
  if (monitorIds.length === 0) return new Map()
  const rows = await query<{ id: string; since: Date }>(
    db,
    `SELECT v.monitor_id AS id, to_timestamp((v.state->'unchecked'->>'sinceMs')::float8 / 1000) AS since
     FROM verdict_states v JOIN monitors m ON m.id = v.monitor_id
     WHERE v.monitor_id = ANY (?::uuid[]) AND m.status IS NULL AND v.state->'unchecked'->>'sinceMs' IS NOT NULL`,
    [monitorIds],
  )
  return new Map(rows.map(({ id, since }) => [id, since]))
}

/** The stored `unchecked` of monitors that show no status because of it. The caller holds their locks. */
export async function loadStoredUnchecked(
  tx: Tx,
  monitorIds: string[],
): Promise<Map<string, NonNullable<MonitorState['unchecked']>>> {
  if (monitorIds.length === 0) return new Map()
  const rows = await query<{ id: string; unchecked: NonNullable<MonitorState['unchecked']> }>(
    tx,
    `SELECT v.monitor_id AS id, v.state->'unchecked' AS unchecked
     FROM verdict_states v JOIN monitors m ON m.id = v.monitor_id
     WHERE v.monitor_id = ANY (?::uuid[]) AND m.status IS NULL AND jsonb_typeof(v.state->'unchecked') = 'object'`,
    [monitorIds],
  )
  return new Map(rows.map(({ id, unchecked }) => [id, unchecked]))
}

/** Deletes verdict states, so that the monitors start like new ones. */
export async function deleteStates(tx: Tx, monitorIds: string[]): Promise<void> {
  await execute(tx, 'DELETE FROM verdict_states WHERE monitor_id = ANY (?::uuid[])', [monitorIds])
}

/** Stores the status that monitors show. Keeps config version and revision, because probes do not need the status. */
export async function storeStatuses(tx: Tx, rows: { id: string; status: VerdictStatus; at: Date }[]): Promise<void> {
  await execute(
    tx,
    `UPDATE monitors m SET status = row.status, status_changed_at = row.at
     FROM jsonb_to_recordset(?::jsonb) AS row (id uuid, status text, at timestamptz) WHERE m.id = row.id`,
    [JSON.stringify(rows)],
  )
}

export type TransitionRow = {
  id: string
  project_id: string
  monitor_id: string
  from_status: VerdictStatus
  /** null: paused or resumed, time that counts neither as up nor as down */
  to_status: VerdictStatus
  at: Date
  quorum: 'full' | 'reduced'
  summary: string
  explanation: Explanation | { data_source?: ExplainedValue }
}

/**
 * PostgreSQL compresses only rows of more than 2 kB, and many explanations are a little shorter. Padded with blanks,
 * which JSON ignores, such an explanation needs less than half of the space.
 */
const PADDED_EXPLANATION = `CASE WHEN length(explanation::text) > 500
  THEN rpad(explanation::text, greatest(length(explanation::text), 2100))::json ELSE explanation END`

export async function insertTransitions(tx: Tx, rows: TransitionRow[], now: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO transitions (id, project_id, monitor_id, from_status, to_status, at, quorum, summary, explanation,
                              created_at)
     SELECT id, project_id, monitor_id, from_status, to_status, at, quorum, summary, ${PADDED_EXPLANATION}, :now
     FROM json_to_recordset(CAST(:rows AS json))
       AS row (id uuid, project_id uuid, monitor_id uuid, from_status text, to_status text, at timestamptz,
               quorum text, summary text, explanation json)`,
    { rows: JSON.stringify(rows), now },
  )
}

/** A transition as the API returns it. */
type TransitionRecord = {
  id: string
  monitor_id: string
  from: VerdictStatus
  to: VerdictStatus
  at: Date
  quorum: 'full' | 'reduced'
  summary: string
  explanation: object
  /** the parent monitor whose outage caused this one; null if there is none */
  caused_by_monitor_id: string | null
  created_at: Date
  updated_at: Date
}

/** One page of a monitor's transitions, newest first, and their total number. */
export async function listTransitions(
  db: Db,
  projectId: string,
  monitorId: string,
  page: { limit: number; offset: number },
): Promise<{ transitions: TransitionRecord[]; total: number }> {
  const ids = { projectId, monitorId }
  const [counted, transitions] = await Promise.all([
    query<{ total: number }>(
      db,
      'SELECT count(*) AS total FROM transitions WHERE project_id = :projectId AND monitor_id = :monitorId',
      ids,
    ),
    query<TransitionRecord>(
      db,
      `SELECT id, monitor_id, from_status AS "from", to_status AS "to", at, quorum, summary,
         coalesce(explanation, '{}') AS explanation, caused_by_monitor_id, created_at, created_at AS updated_at
       FROM transitions WHERE project_id = :projectId AND monitor_id = :monitorId
       ORDER BY at DESC, id DESC LIMIT :limit OFFSET :offset`,
      { ...ids, ...page },
    ),
  ])
  return { transitions, total: counted[0]!.total }
}

/**
 * Schedules a fetch of the data sources of those of the monitors that are paused, and makes it apply the documents even if
 * they are unchanged. A hash that no document has, unlike NULL, leaves the confirmation of failures as it is.
 */
export async function scheduleFetch(tx: Tx, projectId: string, monitorIds: string[], now: Date): Promise<void> {
  const fetched = await execute(
    tx,
    `UPDATE data_sources SET seen_hash = CASE WHEN seen_hash IS NOT NULL THEN CAST('' AS bytea) END, next_fetch_at = :now
     WHERE id IN (SELECT data_source_id FROM monitors
       WHERE project_id = :projectId AND id = ANY (CAST(:monitorIds AS uuid[])) AND is_paused)`,
    { projectId, monitorIds, now },
  )
  if (fetched > 0) await query(tx, `SELECT pg_notify('data_sources', '')`)
}

/** The caller holds the rows' locks. `at`: the time of the pause. Returns the changed monitors. */
export function markPaused(tx: Tx, monitors: { id: string; at: Date }[]): Promise<StoredMonitor[]> {
  return query(
    tx,
    `UPDATE monitors SET is_paused = true, status = NULL, status_changed_at = pause.at, updated_at = pause.at
     FROM jsonb_to_recordset(?::jsonb) AS pause (monitor_id uuid, at timestamptz) WHERE monitors.id = pause.monitor_id
     RETURNING ${MONITOR_COLUMNS}`,
    [JSON.stringify(monitors.map(({ id, at }) => ({ monitor_id: id, at })))],
  )
}

/**
 * For monitors that are resumed, on locked rows: the known certificate may have been renewed during the pause, so its end is
 * looked at after two checks and the 10 minutes for which a later certificate is held.
 */
export async function delayCertificateLooks(tx: Tx, monitorIds: string[], now: Date): Promise<void> {
  await execute(
    tx,
    `WITH watch AS MATERIALIZED (
       SELECT w.monitor_id, m.interval_seconds FROM expiry_watches w JOIN monitors m ON m.id = w.monitor_id
       WHERE w.monitor_id = ANY (:monitorIds::uuid[]) AND w.kind = 'tls' AND w.next_look_at IS NOT NULL
       ORDER BY w.monitor_id FOR NO KEY UPDATE OF w
     )
     UPDATE expiry_watches w
     SET next_look_at = greatest(w.next_look_at,
       CAST(:now AS timestamptz) + watch.interval_seconds * interval '2 seconds' + interval '15 minutes')
     FROM watch WHERE w.monitor_id = watch.monitor_id AND w.kind = 'tls'`,
    { monitorIds, now },
  )
}

/** The caller holds the rows' locks. Returns the changed monitors. */
export function markResumed(tx: Tx, ids: string[], now: Date): Promise<StoredMonitor[]> {
  return query(
    tx,
    `UPDATE monitors SET is_paused = false, config_version = config_version + 1, updated_at = :now
     WHERE id = ANY (CAST(:ids AS uuid[])) RETURNING ${MONITOR_COLUMNS}`,
    { ids, now },
  )
}

/** The caller holds the rows' locks. */
export async function markDeleted(tx: Tx, ids: string[], now: Date): Promise<void> {
  await execute(
    tx,
    'UPDATE monitors SET deleted_at = :now, status = NULL, updated_at = :now WHERE id = ANY (CAST(:ids AS uuid[]))',
    { ids, now },
  )
}
