import { type Db, query, type Tx } from '../platform/postgres.ts'
import type { StoredMonitor } from './types.ts'

export const MONITOR_COLUMNS = `
  id, project_id AS "projectId", partition, config_version AS "configVersion", revision, name, type, url, method,
  headers, body, interval_seconds AS "intervalSeconds", timeout_ms AS "timeoutMs", regions, assertions,
  auth_type AS "authType", auth_config AS "authConfig", keyword, keyword_type AS "keywordType",
  heartbeat_interval AS "heartbeatInterval", heartbeat_grace AS "heartbeatGrace", ssl_check AS "sslCheck",
  domain_check AS "domainCheck", screenshot_on_failure AS "screenshotOnFailure",
  screenshot_compare AS "screenshotCompare", screenshot_threshold AS "screenshotThreshold",
  retry_count AS "retryCount", tags, status, status_changed_at AS "statusChangedAt", is_paused AS "isPaused",
  ssl_expires_at AS "sslExpiresAt", domain_expires_at AS "domainExpiresAt", deleted_at AS "deletedAt",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** For the fleet: at most `limit` monitors of all projects after a revision, deleted and paused ones too, in order. */
export function monitorsSince(db: Db, revision: number, limit: number): Promise<StoredMonitor[]> {
  return query(db, `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE revision > ? ORDER BY revision LIMIT ?`, [
    revision,
    limit,
  ])
}

/** For the verdict: every monitor of some partitions that is not deleted, paused ones too, in the order of ids. */
export function monitorsOfPartitions(db: Db, partitions: number[]): Promise<StoredMonitor[]> {
  return query(
    db,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE partition = ANY (?::smallint[]) AND deleted_at IS NULL ORDER BY id`,
    [partitions],
  )
}

/** Locks monitors of any project until the transaction ends, always in the order of ids. Deleted ones are included. */
export function lockMonitors(tx: Tx, ids: string[]): Promise<StoredMonitor[]> {
  return query(tx, `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id FOR UPDATE`, [ids])
}

/** One monitor that is not deleted. `id` has to be a valid id. */
export async function findMonitor(db: Db, projectId: string, id: string): Promise<StoredMonitor | null> {
  const rows = await query<StoredMonitor>(
    db,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE project_id = ? AND id = ? AND deleted_at IS NULL`,
    [projectId, id],
  )
  return rows[0] ?? null
}

/** The same, locked until the transaction ends. */
export async function lockMonitor(tx: Tx, projectId: string, id: string): Promise<StoredMonitor | null> {
  const rows = await query<StoredMonitor>(
    tx,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE project_id = ? AND id = ? AND deleted_at IS NULL FOR UPDATE`,
    [projectId, id],
  )
  return rows[0] ?? null
}
