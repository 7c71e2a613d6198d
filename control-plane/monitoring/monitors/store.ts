import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { TIMELINE_SQL } from '../../foundation/platform/postgres/server-history.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'
import type { StoredMonitor } from './types.ts'

/** The settings of a monitor. Its status, and what the verdict keeps in its row, are not among them. */
export const MONITOR_VERSION: RecordVersion = {
  noun: 'monitor',
  table: 'monitors',
  scope: 'project_id = CAST(:projectId AS uuid) AND deleted_at IS NULL',
  // as lockMonitor
  lock: 'SELECT FROM monitors WHERE id = :id AND project_id = CAST(:projectId AS uuid) AND deleted_at IS NULL FOR UPDATE',
  ignored: [
    ...['partition', 'revision', 'config_version', 'streaks_since', 'screenshots_since', 'left_regions'],
    ...['status', 'status_changed_at', 'ssl_expires_at', 'domain_expires_at'],
  ],
}

export const MONITOR_COLUMNS = `
  id, project_id AS "projectId", partition, config_version AS "configVersion", revision, name, type, url, method,
  headers, body, interval_seconds AS "intervalSeconds", timeout_ms AS "timeoutMs", regions, assertions,
  auth_type AS "authType", auth_config AS "authConfig", keyword, keyword_type AS "keywordType",
  heartbeat_interval AS "heartbeatInterval", heartbeat_grace AS "heartbeatGrace", ping_token AS "pingToken",
  ping_token_hash AS "pingTokenHash", ssl_check AS "sslCheck",
  domain_check AS "domainCheck", screenshot_on_failure AS "screenshotOnFailure",
  screenshot_compare AS "screenshotCompare", screenshot_threshold AS "screenshotThreshold",
  retry_count AS "retryCount", witness, witness_with_credentials AS "witnessWithCredentials", tags, status, status_changed_at AS "statusChangedAt", is_paused AS "isPaused",
  ssl_expires_at AS "sslExpiresAt", domain_expires_at AS "domainExpiresAt", deleted_at AS "deletedAt",
  CASE WHEN data_source_id IS NOT NULL THEN (
    SELECT jsonb_build_object('id', s.id, 'name', s.name, 'isPaused', s.is_paused, 'fieldId', c.field_id, 'key', c.key)
    FROM data_source_children c JOIN data_sources s ON s.id = c.data_source_id WHERE c.monitor_id = monitors.id
  ) END AS "dataSource",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** Lists at most `limit` monitors of all projects after a revision, in order. Includes deleted and paused monitors. For the fleet. */
export function listMonitorsSince(db: Db, revision: number, limit: number): Promise<StoredMonitor[]> {
  return query(db, `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE revision > ? ORDER BY revision LIMIT ?`, [
    revision,
    limit,
  ])
}

/** Lists the monitors of some partitions in the order of ids. Includes paused monitors, not deleted ones. For the verdict. */
export function listPartitionMonitors(db: Db, partitions: number[]): Promise<StoredMonitor[]> {
  return query(
    db,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE partition = ANY (?::smallint[]) AND deleted_at IS NULL ORDER BY id`,
    [partitions],
  )
}

/** Locks monitors of any project until the transaction ends, always in the order of ids. Includes deleted monitors. */
export function lockMonitors(tx: Tx, ids: string[]): Promise<StoredMonitor[]> {
  return query(tx, `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id FOR UPDATE`, [ids])
}

/** Locks monitors of a project as `lockMonitors` does. Ignores deleted ones. The ids are valid. */
export function lockProjectMonitors(tx: Tx, projectId: string, ids: string[]): Promise<StoredMonitor[]> {
  return query(
    tx,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE project_id = ? AND id = ANY (?::uuid[]) AND deleted_at IS NULL
     ORDER BY id FOR UPDATE`,
    [projectId, ids],
  )
}

/** The fields that show whether a decision about a monitor is still valid. */
export type MonitorVersion = Pick<StoredMonitor, 'id' | 'configVersion' | 'isPaused' | 'deletedAt'>

/** Locks monitors without waiting. Monitors that another transaction has locked are left out. */
export function lockAvailableMonitors(tx: Tx, ids: string[]): Promise<MonitorVersion[]> {
  return query(
    tx,
    `SELECT id, config_version AS "configVersion", is_paused AS "isPaused", deleted_at AS "deletedAt"
     FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED`,
    [ids],
  )
}

/** Finds the project of each monitor, by monitor id. Includes deleted and locked monitors. */
export async function findProjectIds(db: Db, ids: string[]): Promise<Map<string, string>> {
  const rows = await query<{ id: string; projectId: string }>(
    db,
    'SELECT id, project_id AS "projectId" FROM monitors WHERE id = ANY (?::uuid[])',
    [ids],
  )
  return new Map(rows.map(({ id, projectId }) => [id, projectId]))
}

/** Lists monitors of any project, without deleted ones. */
export function listMonitorsByIds(db: Db, ids: string[]): Promise<StoredMonitor[]> {
  return query(
    db,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE id = ANY (?::uuid[]) AND deleted_at IS NULL ORDER BY id`,
    [ids],
  )
}

/** Finds a monitor that is not deleted. `id` must be a valid id. */
export async function findMonitor(db: Db, projectId: string, id: string): Promise<StoredMonitor | null> {
  const rows = await query<StoredMonitor>(
    db,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE project_id = ? AND id = ? AND deleted_at IS NULL`,
    [projectId, id],
  )
  return rows[0] ?? null
}

/** Finds a monitor that is not deleted, and locks it until the transaction ends. */
export async function lockMonitor(tx: Tx, projectId: string, id: string): Promise<StoredMonitor | null> {
  const rows = await query<StoredMonitor>(
    tx,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE project_id = ? AND id = ? AND deleted_at IS NULL FOR UPDATE`,
    [projectId, id],
  )
  return rows[0] ?? null
}

/** The newest revision of all monitors. While it does not change, no check and no type of a monitor changes. */
export async function getLatestRevision(db: Db): Promise<number> {
  const [row] = await query<{ revision: number }>(db, 'SELECT coalesce(max(revision), 0) AS revision FROM monitors')
  return row!.revision
}

/** Identifies the history of the database (the timeline of its WAL), with the newest revision that was assigned in it. */
export type HistoryPosition = { timeline: string; revision: number }

/**
 * SQL of one row, a HistoryPosition. Fails on a standby. A server that was promoted, or restored to a point in time, continues
 * with another timeline.
 */
export const HISTORY_POSITION_SQL = `
  SELECT ${TIMELINE_SQL} AS timeline,
    -- last_value is 1 before the first number is taken, too
    CASE WHEN is_called THEN last_value ELSE 0 END AS revision FROM monitor_revisions`

export async function getHistoryPosition(db: Db): Promise<HistoryPosition> {
  const [row] = await query<HistoryPosition>(db, HISTORY_POSITION_SQL)
  return row!
}

/** True when the database may have lost rows that were read up to `revision`. `before`: its position at that time; null: unknown. */
export const isDifferentHistory = (now: HistoryPosition, before: HistoryPosition | null, revision: number): boolean =>
  now.revision < revision || (before !== null && now.timeline !== before.timeline)

/** A row blocks the event loop for up to 10 µs, which is much less than a statement of its own would. */
const MAX_ROWS_PER_STATEMENT = 500

/** Inserts any number of monitors. The database sets `revision`. */
export async function insertMonitors(tx: Tx, monitors: StoredMonitor[]): Promise<void> {
  for (const rows of splitRows(monitors)) await insertRows(tx, rows)
}

/** Splits rows into parts of at most `MAX_ROWS_PER_STATEMENT`. An empty list has no parts. */
function* splitRows<T>(rows: readonly T[]): Generator<T[]> {
  for (let from = 0; from < rows.length; from += MAX_ROWS_PER_STATEMENT)
    yield rows.slice(from, from + MAX_ROWS_PER_STATEMENT)
}

async function insertRows(tx: Tx, monitors: StoredMonitor[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO monitors (id, project_id, partition, config_version, name, type, url, method, headers, body,
       interval_seconds, timeout_ms, regions, assertions, auth_type, auth_config, keyword, keyword_type,
       heartbeat_interval, heartbeat_grace, ping_token, ping_token_hash, ssl_check, domain_check,
       screenshot_on_failure, screenshot_compare, screenshot_threshold, retry_count, witness, witness_with_credentials, tags, is_paused, data_source_id,
       created_at, updated_at)
     SELECT id, "projectId", partition, "configVersion", name, type, url, method, headers, body,
       "intervalSeconds", "timeoutMs", regions, assertions, "authType", "authConfig", keyword, "keywordType",
       "heartbeatInterval", "heartbeatGrace", "pingToken", "pingTokenHash", "sslCheck", "domainCheck",
       "screenshotOnFailure", "screenshotCompare", "screenshotThreshold", "retryCount", witness, "witnessWithCredentials", tags, "isPaused",
       CAST("dataSource"->>'id' AS uuid), "createdAt", "updatedAt"
     FROM jsonb_to_recordset(:rows::jsonb) AS row (${ROW_TYPES})`,
    { rows: serializeRows(monitors) },
  )
}

/** Writes the configured fields of monitors, their config versions and expiry dates. The caller has locked their rows. */
export async function updateMonitors(tx: Tx, monitors: StoredMonitor[]): Promise<void> {
  for (const rows of splitRows(monitors)) await updateRows(tx, rows)
}

async function updateRows(tx: Tx, monitors: StoredMonitor[]): Promise<void> {
  await execute(
    tx,
    `UPDATE monitors m SET config_version = row."configVersion", name = row.name, type = row.type, url = row.url,
       method = row.method, headers = row.headers, body = row.body, interval_seconds = row."intervalSeconds",
       timeout_ms = row."timeoutMs", regions = row.regions, assertions = row.assertions,
       auth_type = row."authType", auth_config = row."authConfig", keyword = row.keyword,
       keyword_type = row."keywordType", heartbeat_interval = row."heartbeatInterval",
       heartbeat_grace = row."heartbeatGrace", ping_token = row."pingToken",
       ping_token_hash = row."pingTokenHash", ssl_check = row."sslCheck", domain_check = row."domainCheck",
       screenshot_on_failure = row."screenshotOnFailure", screenshot_compare = row."screenshotCompare",
       screenshot_threshold = row."screenshotThreshold", retry_count = row."retryCount", witness = row.witness,
       witness_with_credentials = row."witnessWithCredentials", tags = row.tags,
       ssl_expires_at = row."sslExpiresAt", domain_expires_at = row."domainExpiresAt", updated_at = row."updatedAt"
     FROM jsonb_to_recordset(:rows::jsonb) AS row (${ROW_TYPES})
     WHERE m.id = row.id AND m.project_id = row."projectId"`,
    { rows: serializeRows(monitors) },
  )
}

const ROW_TYPES = `id uuid, "projectId" uuid, partition smallint, "configVersion" integer, name text, type text,
  url text, method text, headers bytea, body text, "intervalSeconds" integer, "timeoutMs" integer, regions text[],
  assertions jsonb, "authType" text, "authConfig" bytea, keyword text, "keywordType" text,
  "heartbeatInterval" integer, "heartbeatGrace" integer, "pingToken" bytea, "pingTokenHash" bytea,
  "sslCheck" boolean, "domainCheck" boolean,
  "screenshotOnFailure" boolean, "screenshotCompare" boolean, "screenshotThreshold" double precision,
  "retryCount" integer, witness boolean, "witnessWithCredentials" boolean, tags text[], "isPaused" boolean, "dataSource" jsonb, "sslExpiresAt" timestamptz, "domainExpiresAt" timestamptz, "createdAt" timestamptz, "updatedAt" timestamptz`

function serializeRows(monitors: StoredMonitor[]): string {
  const bytes = (encrypted: Buffer | null) => encrypted && `\\x${encrypted.toString('hex')}`
  return JSON.stringify(
    monitors.map(monitor => ({
      ...monitor,
      headers: bytes(monitor.headers),
      authConfig: bytes(monitor.authConfig),
      pingToken: bytes(monitor.pingToken),
      pingTokenHash: bytes(monitor.pingTokenHash),
    })),
  )
}

/**
 * Moves the deadlines of heartbeats by the change of their interval and grace (docs/design/heartbeats.md#overdue).
 * `allowed`: the new sum of both. The monitors are locked.
 */
export async function moveHeartbeatDeadlines(
  tx: Tx,
  moves: { id: string; seconds: number; allowed: number }[],
): Promise<void> {
  const rows = moves.filter(({ seconds }) => seconds !== 0)
  if (rows.length === 0) return
  await execute(
    tx,
    `UPDATE heartbeats SET due_at = CASE
       WHEN row.seconds > 0 THEN due_at + row.seconds * interval '1 second'
       ELSE least(due_at, greatest(due_at + row.seconds * interval '1 second',
         clock_timestamp() + row.allowed * interval '1 second')) END
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, seconds integer, allowed integer)
     WHERE monitor_id = row.id AND due_at IS NOT NULL`,
    { rows: JSON.stringify(rows) },
  )
}
