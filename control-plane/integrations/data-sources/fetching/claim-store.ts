import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { readJoined } from '../../../foundation/platform/postgres/joined-reads.ts'
import { buildUnleasedSql, claimRows, lockHeldRows } from '../../../foundation/platform/postgres/lease.ts'
import type { FieldDefinition, StoredSource } from '../types.ts'

/** A source that this process has claimed, as it was when claimed. */
export type ClaimedSource = Pick<
  StoredSource,
  | 'id'
  | 'projectId'
  | 'name'
  | 'url'
  | 'method'
  | 'headers'
  | 'body'
  | 'authType'
  | 'authConfig'
  | 'rootPath'
  | 'fetchIntervalS'
  | 'timeoutMs'
  | 'revision'
  | 'failures'
  | 'lastError'
  | 'incidentId'
> & {
  /** in their order */
  fields: FieldDefinition[]
  /** hash of the last result, or empty: any result is applied; null: it was just created or changed as well */
  seenHash: Buffer | null
  /** when it was due, as PostgreSQL prints it, to the microsecond */
  dueAt: string
  lateMs: number
}

const CLAIMED_COLUMNS = `t.id, t.project_id AS "projectId", t.name, t.url, t.method, t.headers, t.body, t.auth_type AS "authType",
  t.auth_config AS "authConfig", t.root_path AS "rootPath", t.fetch_interval_s AS "fetchIntervalS",
  t.timeout_ms AS "timeoutMs", t.revision, t.failures, t.last_error AS "lastError", t.incident_id AS "incidentId", t.seen_hash AS "seenHash",
  CAST(t.next_fetch_at AS text) AS "dueAt",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'path', f.path, 'nameTemplate', f.name_template,
     'ruleType', f.rule_type, 'ruleConfig', f.rule_config, 'degradedRuleConfig', f.degraded_rule_config)
     ORDER BY f.display_order, f.id), '[]') FROM data_source_fields f WHERE f.data_source_id = t.id) AS fields,
  CAST(extract(epoch FROM clock_timestamp() - t.next_fetch_at) * 1000 AS float8) AS "lateMs"`

const SOURCES = {
  table: 'data_sources',
  key: 'id',
  dueAt: 'next_fetch_at',
  leaseEnd: 'lease_until',
  extraMs: 't.timeout_ms',
  condition: 'NOT t.is_paused',
  changes: 'lease_owner = :owner',
  holder: 'lease_owner',
}

/**
 * Claims at most `limit` due sources, the longest due first. The lease lasts for the timeout of the source and
 * `spareMs`; after that, another process can claim the source.
 */
export const claimDue = (db: Db, owner: string, limit: number, spareMs: number): Promise<ClaimedSource[]> =>
  claimRows(db, SOURCES, CLAIMED_COLUMNS, { owner, limit, leaseMs: spareMs })

/** Returns when the next source without a lease is due, without paused ones; null when there is none. */
export const findNextDueAt = (db: Db): Promise<Date | null> =>
  readJoined(
    db,
    `SELECT next_fetch_at FROM data_sources t WHERE ${buildUnleasedSql(SOURCES, 'clock_timestamp()')}
       AND ${SOURCES.condition}
     ORDER BY next_fetch_at LIMIT 1`,
  )

/** How a fetch ended. `error`: "" for a success, the message of a failure, or null when the result is not recorded. */
export type FetchEnd = {
  id: string
  revision: number
  dueAt: string
  /** null: it stays due */
  nextAt: Date | null
  at: Date
  error: string | null
  /** the failure is counted, because the source caused it */
  isFailure: boolean
  /** number of keys, when the document has more keys than monitors; else null */
  keys: number | null
}

/**
 * Releases claimed sources in one statement. A source that was changed or refreshed meanwhile stays due. Sources that another
 * transaction has locked, such as an import, are not waited for: their ids are returned, and they stay claimed.
 */
export async function endFetches(tx: Tx | Db, owner: string, ended: FetchEnd[]): Promise<Set<string>> {
  if (ended.length === 0) return new Set()
  const locked = await query<{ id: string }>(
    tx,
    `WITH given AS (
       SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, revision bigint, "dueAt" text,
         "nextAt" timestamptz, at timestamptz, error text, "isFailure" boolean, keys integer)
     ), held AS (
       SELECT given.*, error IS NOT NULL AND d.revision = given.revision AS is_made
       FROM given JOIN data_sources d ON d.id = given.id AND d.lease_owner = :owner
       ORDER BY d.id FOR NO KEY UPDATE OF d SKIP LOCKED
     ), written AS (
       UPDATE data_sources s SET lease_owner = NULL, lease_until = NULL,
         next_fetch_at = CASE WHEN CAST(s.next_fetch_at AS text) = row."dueAt"
           THEN coalesce(row."nextAt", s.next_fetch_at) ELSE s.next_fetch_at END,
         last_fetched_at = CASE WHEN row.is_made THEN row.at ELSE s.last_fetched_at END,
         last_success_at = CASE WHEN row.is_made AND row.error = '' THEN row.at ELSE s.last_success_at END,
         last_error = CASE WHEN row.is_made THEN nullif(row.error, '') ELSE s.last_error END,
         document_keys = CASE WHEN row.is_made AND row.error = '' THEN row.keys ELSE s.document_keys END,
         failures = CASE WHEN NOT row.is_made THEN s.failures WHEN row.error = '' THEN 0
           ELSE s.failures + row."isFailure"::integer END
       FROM held AS row WHERE s.id = row.id
     )
     SELECT d.id FROM data_sources d JOIN given ON given.id = d.id
     WHERE d.lease_owner = :owner AND d.id NOT IN (SELECT id FROM held)`,
    { owner, rows: JSON.stringify(ended) },
  )
  return new Set(locked.map(({ id }) => id))
}

/**
 * Locks a source that this process still holds; null when it was changed, deleted or claimed by another process, or when
 * another transaction has locked it, such as an import.
 */
export async function lockClaimed(
  tx: Tx,
  owner: string,
  { id, revision }: Pick<ClaimedSource, 'id' | 'revision'>,
): Promise<{ failures: number; incidentId: string | null; nowMs: number } | null> {
  const [row] = await lockHeldRows<{ revision: number; failures: number; incidentId: string | null; nowMs: number }>(
    tx,
    SOURCES,
    `revision, failures, incident_id AS "incidentId",
     CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS float8) AS "nowMs"`,
    { keys: [id], holder: owner, skipsLocked: true },
  )
  return row?.revision === revision ? row : null
}

/** Locks a source to archive its monitors; null when it does not exist any more, or another transaction has locked it. */
export async function lockForArchive(tx: Tx, id: string): Promise<Pick<StoredSource, 'lastSuccessAt'> | null> {
  const sql = 'SELECT last_success_at AS "lastSuccessAt" FROM data_sources WHERE id = ? FOR NO KEY UPDATE SKIP LOCKED'
  const [row] = await query<Pick<StoredSource, 'lastSuccessAt'>>(tx, sql, [id])
  return row ?? null
}

/** Saves the hash of the last result and the source's incident. The caller has locked the source. */
export async function saveSeenHash(
  tx: Tx,
  id: string,
  seen: { seenHash: Buffer; incidentId: string | null },
): Promise<void> {
  await execute(tx, 'UPDATE data_sources SET seen_hash = :seenHash, incident_id = :incidentId WHERE id = :id', {
    id,
    ...seen,
  })
}
