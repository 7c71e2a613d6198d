import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../../foundation/web/conditions/record-version.ts'
import type { StoredSource } from '../types.ts'

const COLUMNS = `
  id, project_id AS "projectId", name, description, url, method, headers, body, auth_type AS "authType",
  auth_config AS "authConfig", root_path AS "rootPath", fetch_interval_s AS "fetchIntervalS",
  timeout_ms AS "timeoutMs", is_paused AS "isPaused", revision, next_fetch_at AS "nextFetchAt", last_fetched_at AS "lastFetchedAt",
  last_success_at AS "lastSuccessAt", last_error AS "lastError", failures, incident_id AS "incidentId",
  document_keys AS "documentKeys", created_at AS "createdAt", updated_at AS "updatedAt"`

export const SOURCE_VERSION: RecordVersion = {
  noun: 'data source',
  table: 'data_sources',
  ignored: [
    ...['revision', 'next_fetch_at', 'lease_owner', 'lease_until', 'last_fetched_at', 'last_success_at'],
    ...['last_error', 'failures', 'seen_hash', 'incident_id', 'document_keys'],
  ],
  related: `(SELECT jsonb_agg(to_jsonb(f) - CAST('updated_at' AS text) ORDER BY f.id)
    FROM data_source_fields f WHERE f.data_source_id = record.id)`,
}

/** Returns a page of the data sources of a project, or all of them, newest first, with their total number. */
export async function listSources(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number } | null,
): Promise<{ sources: StoredSource[]; total: number }> {
  const sources = await query<StoredSource>(
    db,
    `SELECT ${COLUMNS} FROM data_sources WHERE project_id = :projectId ORDER BY id DESC LIMIT :limit OFFSET :offset`,
    { projectId, limit: page?.limit ?? null, offset: page?.offset ?? 0 },
  )
  if (page === null) return { sources, total: sources.length }
  const sql = 'SELECT count(*) AS total FROM data_sources WHERE project_id = ?'
  return { sources, total: (await query<{ total: number }>(db, sql, [projectId]))[0]!.total }
}

/** Finds a source. `id` must be a valid id. */
export async function findSource(db: Db, projectId: string, id: string): Promise<StoredSource | null> {
  const sql = `SELECT ${COLUMNS} FROM data_sources WHERE project_id = ? AND id = ?`
  return (await query<StoredSource>(db, sql, [projectId, id]))[0] ?? null
}

/** Finds and locks a source. The lock is required, and taken first, to change the source, its fields or its monitors. */
export async function lockSource(tx: Tx, projectId: string, id: string): Promise<StoredSource | null> {
  const sql = `SELECT ${COLUMNS} FROM data_sources WHERE project_id = ? AND id = ? FOR NO KEY UPDATE`
  return (await query<StoredSource>(tx, sql, [projectId, id]))[0] ?? null
}

export async function insertSource(tx: Tx, source: StoredSource): Promise<void> {
  await execute(
    tx,
    `INSERT INTO data_sources (id, project_id, name, description, url, method, headers, body, auth_type, auth_config,
       root_path, fetch_interval_s, timeout_ms, is_paused, next_fetch_at, created_at, updated_at)
     VALUES (:id, :projectId, :name, :description, :url, :method, :headers, :body, :authType, :authConfig,
       :rootPath, :fetchIntervalS, :timeoutMs, :isPaused, :nextFetchAt, :createdAt, :updatedAt)`,
    source,
  )
}

/** Writes the settings of a source that the caller has locked. */
export async function updateSource(tx: Tx, source: StoredSource): Promise<void> {
  await execute(
    tx,
    `UPDATE data_sources SET name = :name, description = :description, url = :url, method = :method,
       headers = :headers, body = :body, auth_type = :authType, auth_config = :authConfig, root_path = :rootPath,
       fetch_interval_s = :fetchIntervalS, timeout_ms = :timeoutMs, is_paused = :isPaused, updated_at = :updatedAt
     WHERE id = :id`,
    source,
  )
}

/** Discards earlier results of a source, including a fetch in flight, and makes it due now. */
export async function resetSource(tx: Tx, id: string, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE data_sources SET revision = revision + 1, seen_hash = NULL, next_fetch_at = :now, updated_at = :now
     WHERE id = :id`,
    { id, now },
  )
  await wakeWorkers(tx)
}

/** Stores that the incident of a source is resolved and that its failures do not count any more. */
export async function forgetFailures(tx: Tx, id: string): Promise<void> {
  await execute(tx, 'UPDATE data_sources SET incident_id = NULL, failures = 0 WHERE id = ?', [id])
}

/** Makes a source due now. A source that is being fetched is fetched once more, because that fetch may be too old. */
export async function fetchSoon(tx: Tx, id: string, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE data_sources SET next_fetch_at =
       CASE WHEN lease_until >= clock_timestamp() THEN :now ELSE least(next_fetch_at, :now) END
     WHERE id = :id`,
    { id, now },
  )
  await wakeWorkers(tx)
}

/** Notifies the workers of all processes that a source is due. */
export async function wakeWorkers(tx: Tx): Promise<void> {
  await query(tx, `SELECT pg_notify('data_sources', '')`)
}

/** Deletes a source with its fields. Its monitors were retired before. */
export async function removeSource(tx: Tx, id: string): Promise<void> {
  await execute(tx, 'DELETE FROM data_sources WHERE id = ?', [id])
}
