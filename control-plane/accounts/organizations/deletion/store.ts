import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { type ListedOrganization, ORGANIZATION_COLUMNS } from '../store.ts'
import { sortChildrenFirst } from './table-order.ts'

/** Finds an organization that is closed but not empty. */
export async function findClosedOrganization(db: Db, id: string): Promise<ListedOrganization | null> {
  const [row] = await query<ListedOrganization>(
    db,
    `SELECT ${ORGANIZATION_COLUMNS} FROM organizations o
     WHERE o.id = ? AND o.deleted_at IS NOT NULL AND o.emptied_at IS NULL`,
    [id],
  )
  return row ?? null
}

/** Organizations that are closed but not empty, in the order in which they were closed. */
export async function listClosedOrganizationIds(db: Db): Promise<string[]> {
  const sql = 'SELECT id FROM organizations WHERE deleted_at IS NOT NULL AND emptied_at IS NULL ORDER BY deleted_at'
  return (await query<{ id: string }>(db, sql)).map(({ id }) => id)
}

/**
 * Closes an organization: its keys, memberships, published pages and data sources end. Users who are members of no other
 * organization are deleted.
 */
export async function closeOrganization(tx: Tx, organizationId: string, now: Date): Promise<void> {
  const ofProjects = 'project_id IN (SELECT id FROM projects WHERE organization_id = ?)'
  await execute(tx, 'UPDATE organizations SET deleted_at = ?, updated_at = ? WHERE id = ?', [now, now, organizationId])
  await execute(tx, `DELETE FROM api_keys WHERE ${ofProjects}`, [organizationId])
  await execute(tx, `UPDATE status_pages SET is_published = false WHERE is_published AND ${ofProjects}`, [
    organizationId,
  ])
  // the result of a fetch in progress is discarded: it would create monitors
  await execute(tx, `UPDATE data_sources SET is_paused = true, revision = revision + 1 WHERE ${ofProjects}`, [
    organizationId,
  ])
  await execute(
    tx,
    `DELETE FROM users u USING memberships m WHERE m.user_id = u.id AND m.organization_id = :organizationId
       AND NOT EXISTS (SELECT FROM memberships WHERE user_id = u.id AND organization_id <> :organizationId)`,
    { organizationId },
  )
  await execute(tx, 'DELETE FROM memberships WHERE organization_id = ?', [organizationId])
  await execute(tx, 'DELETE FROM mail_addresses WHERE organization_id = ?', [organizationId])
}

/** Queues the revocation of chat grants, which is repeated until the provider has confirmed it (integrations/chat). */
export const revokeChatInstallations = (db: Db, projectIds: string[], now: Date) =>
  execute(
    db,
    `WITH gone AS (
       DELETE FROM chat_installations WHERE project_id = ANY (CAST(:projectIds AS uuid[]))
       RETURNING id, project_id, team_id, tokens, revoked_at
     )
     INSERT INTO chat_revocations (id, project_id, team_id, tokens, next_attempt_at, created_at)
     SELECT id, project_id, team_id, tokens, :now, :now FROM gone WHERE revoked_at IS NULL`,
    { projectIds, now },
  )

/** Monitors that still have a name, including deleted ones. */
export async function listRemainingMonitorIds(db: Db, projectIds: string[]): Promise<string[]> {
  const sql = `SELECT id FROM monitors WHERE project_id = ANY (?::uuid[]) AND name <> '' ORDER BY id`
  return (await query<{ id: string }>(db, sql, [projectIds])).map(({ id }) => id)
}

/** Locks monitors in the order of their ids, as all other code does. */
const CHOSEN = 'id IN (SELECT id FROM monitors WHERE id = ANY (CAST(:ids AS uuid[])) ORDER BY id FOR UPDATE)'

/**
 * Marks monitors as deleted and clears all their data but the name. The rows stay, because disconnected probes still have to
 * receive the deletion.
 */
export const markMonitorsDeleted = (db: Db, ids: string[], now: Date) =>
  execute(
    db,
    `UPDATE monitors SET deleted_at = coalesce(deleted_at, :now), url = NULL, body = NULL, headers = NULL,
       auth_type = NULL, auth_config = NULL, assertions = NULL, keyword = NULL, tags = NULL, ping_token = NULL,
       ping_token_hash = NULL, status = NULL, updated_at = :now
     WHERE ${CHOSEN}`,
    { ids, now },
  )

/** Clears the names of monitors. A monitor without a name has no dependent rows. */
export const clearMonitorNames = (db: Db, ids: string[]) =>
  execute(db, `UPDATE monitors SET name = '' WHERE ${CHOSEN}`, { ids })

/**
 * Tables that are not emptied: monitors stay as tombstones, screenshots are deleted by the age of their rows, and chat
 * revocations wait for the provider.
 */
const KEPT_TABLES = ['monitors', 'screenshots', 'chat_revocations']

type TableReference = { name: string; column: string }

/**
 * The tables whose rows are deleted with a row of `table` (ON DELETE CASCADE). Tables that refer to others come first, so that
 * the deletion of one row does not cascade to many.
 */
export async function listDependentTables(db: Db, table: string): Promise<TableReference[]> {
  const references = await query<TableReference & { to: string }>(
    db,
    `SELECT c.conrelid::regclass::text AS name, a.attname AS column, c.confrelid::regclass::text AS to
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     WHERE c.contype = 'f' AND c.confdeltype = 'c' AND c.conparentid = 0
       AND c.conrelid::regclass::text <> ALL (CAST(:left AS text[])) ORDER BY 1, 2`,
    { left: KEPT_TABLES },
  )
  const tables = references.filter(({ to }) => to === table).map(({ name, column }) => ({ name, column }))
  return sortChildrenFirst(tables, references)
}

/** Deletes at most `limit` rows. Returns their number. */
export async function deleteRows(
  db: Db,
  { name, column }: TableReference,
  ids: string[],
  limit: number,
): Promise<number> {
  // the column again: a ctid is unique within a partition only
  const { rowCount } = await db.raw<{ rowCount: number | null }>(
    `DELETE FROM ?? WHERE ctid = ANY (ARRAY(SELECT ctid FROM ?? WHERE ?? = ANY (?::uuid[]) LIMIT ?))
       AND ?? = ANY (?::uuid[])`,
    [name, name, column, ids, limit, column, ids],
  )
  return rowCount ?? 0
}

/** Marks an organization as emptied and clears its names. */
export async function finishDeletion(db: Db, organizationId: string, now: Date): Promise<void> {
  await execute(db, `UPDATE projects SET name = '', updated_at = ? WHERE organization_id = ?`, [now, organizationId])
  const sql = `UPDATE organizations SET name = '', emptied_at = :now, updated_at = :now WHERE id = :organizationId`
  await execute(db, sql, { organizationId, now })
}
