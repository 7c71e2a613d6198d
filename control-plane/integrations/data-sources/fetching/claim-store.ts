import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { FieldDefinition, StoredSource } from '../types.ts'

/** A source that this process fetches now, as it was then. */
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
  /** of what the last fetch meant; null: whatever comes is taken in */
  seenHash: Buffer | null
  /** the time that it was due, as PostgreSQL prints it: to the microsecond */
  dueAt: string
  lateMs: number
}

const CLAIMED_COLUMNS = `s.id, s.project_id AS "projectId", s.name, s.url, s.method, s.headers, s.body, s.auth_type AS "authType",
  s.auth_config AS "authConfig", s.root_path AS "rootPath", s.fetch_interval_s AS "fetchIntervalS",
  s.timeout_ms AS "timeoutMs", s.revision, s.failures, s.last_error AS "lastError", s.incident_id AS "incidentId", s.seen_hash AS "seenHash",
  CAST(s.next_fetch_at AS text) AS "dueAt",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', f.id, 'path', f.path, 'nameTemplate', f.name_template,
     'ruleType', f.rule_type, 'ruleConfig', f.rule_config, 'degradedRuleConfig', f.degraded_rule_config)
     ORDER BY f.display_order, f.id), '[]') FROM data_source_fields f WHERE f.data_source_id = s.id) AS fields,
  CAST(extract(epoch FROM clock_timestamp() - s.next_fetch_at) * 1000 AS float8) AS "lateMs"`

const FREE = '(lease_until IS NULL OR lease_until < clock_timestamp())'

/**
 * Claims at most `limit` sources that are due, those due longest first, for their timeout and `spareMs`. A process that
 * dies leaves them to others after that.
 */
export function claimDue(db: Db, owner: string, limit: number, spareMs: number): Promise<ClaimedSource[]> {
  return query(
    db,
    `WITH due AS (
       SELECT id FROM data_sources WHERE next_fetch_at <= clock_timestamp() AND ${FREE}
       ORDER BY next_fetch_at LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
     )
     UPDATE data_sources s SET lease_owner = :owner,
       lease_until = clock_timestamp() + (s.timeout_ms + :spareMs) * interval '1 ms'
     FROM due WHERE s.id = due.id RETURNING ${CLAIMED_COLUMNS}`,
    { owner, limit, spareMs },
  )
}

/** When the next source will be due that nobody fetches; null without any source. */
export async function findNextDueAt(db: Db): Promise<Date | null> {
  const [row] = await query<{ at: Date }>(
    db,
    `SELECT next_fetch_at AS at FROM data_sources WHERE ${FREE} ORDER BY next_fetch_at LIMIT 1`,
  )
  return row?.at ?? null
}

/** How a fetch ended. `said`: null: it was not made, or is void; else the sentence of a failure, "" for a success. */
export type FetchEnd = {
  id: string
  revision: number
  dueAt: string
  /** null: it stays due */
  nextAt: Date | null
  at: Date
  said: string | null
  /** what the source is to blame for is counted */
  isFailure: boolean
  /** of a document with more keys than monitors; null: of no other */
  keys: number | null
}

/** Gives claimed sources back, all in one statement. One that was changed or asked for meanwhile stays due. */
export async function endFetches(tx: Tx | Db, owner: string, ended: FetchEnd[]): Promise<void> {
  if (ended.length === 0) return
  await execute(
    tx,
    `UPDATE data_sources s SET lease_owner = NULL, lease_until = NULL,
       next_fetch_at = CASE WHEN CAST(s.next_fetch_at AS text) = row."dueAt"
         THEN coalesce(row."nextAt", s.next_fetch_at) ELSE s.next_fetch_at END,
       last_fetched_at = CASE WHEN row.is_made THEN row.at ELSE s.last_fetched_at END,
       last_success_at = CASE WHEN row.is_made AND row.said = '' THEN row.at ELSE s.last_success_at END,
       last_error = CASE WHEN row.is_made THEN nullif(row.said, '') ELSE s.last_error END,
       document_keys = CASE WHEN row.is_made AND row.said = '' THEN row.keys ELSE s.document_keys END,
       failures = CASE WHEN NOT row.is_made THEN s.failures WHEN row.said = '' THEN 0
         ELSE s.failures + row."isFailure"::integer END
     FROM (
       SELECT given.*, said IS NOT NULL AND d.revision = given.revision AS is_made
       FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (id uuid, revision bigint, "dueAt" text,
         "nextAt" timestamptz, at timestamptz, said text, "isFailure" boolean, keys integer)
       JOIN data_sources d ON d.id = given.id AND d.lease_owner = :owner ORDER BY d.id FOR NO KEY UPDATE OF d
     ) AS row WHERE s.id = row.id`,
    { owner, rows: JSON.stringify(ended) },
  )
}

/** Locks a source that is still this process' to take in; null when it was changed, deleted or taken over. */
export async function lockClaimed(
  tx: Tx,
  owner: string,
  { id, revision }: Pick<ClaimedSource, 'id' | 'revision'>,
): Promise<{ failures: number; incidentId: string | null; nowMs: number } | null> {
  const rows = await query<{ failures: number; incidentId: string | null; nowMs: number }>(
    tx,
    `SELECT failures, incident_id AS "incidentId",
       CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS float8) AS "nowMs"
     FROM data_sources WHERE id = :id AND revision = :revision AND lease_owner = :owner FOR NO KEY UPDATE`,
    { id, revision, owner },
  )
  return rows[0] ?? null
}

/** Locks a source whose monitors are put aside; false when there is none any more. */
export async function lockForArchive(tx: Tx, id: string): Promise<boolean> {
  return (await query(tx, 'SELECT FROM data_sources WHERE id = ? FOR NO KEY UPDATE', [id])).length === 1
}

/** What a source's last fetch meant, and its own incident. The caller holds its lock. */
export async function saveSeenHash(
  tx: Tx,
  id: string,
  meaning: { seenHash: Buffer; incidentId: string | null },
): Promise<void> {
  await execute(tx, 'UPDATE data_sources SET seen_hash = :seenHash, incident_id = :incidentId WHERE id = :id', {
    id,
    ...meaning,
  })
}
