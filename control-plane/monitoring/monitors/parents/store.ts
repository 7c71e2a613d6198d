import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import type { MonitorStatus } from '../types.ts'

export type ParentMonitor = { id: string; name: string; status: MonitorStatus | null }

/** Lists the parents of a monitor in the order of ids, without deleted ones. */
export function listParents(db: Db, monitorId: string): Promise<ParentMonitor[]> {
  return query(
    db,
    `SELECT m.id, m.name, m.status FROM monitor_parents p JOIN monitors m ON m.id = p.parent_id
     WHERE p.monitor_id = ? AND m.deleted_at IS NULL ORDER BY m.id`,
    [monitorId],
  )
}

/** Lists the monitors of all projects that other monitors depend on. */
export async function listAllParentIds(db: Db): Promise<string[]> {
  const rows = await query<{ id: string }>(db, 'SELECT DISTINCT parent_id AS id FROM monitor_parents')
  return rows.map(({ id }) => id)
}

/** Lists the dependencies between monitors of a project, without deleted ones. */
export function listDependencyPairs(db: Db, projectId: string): Promise<{ monitorId: string; parentId: string }[]> {
  return query(
    db,
    `SELECT p.monitor_id AS "monitorId", p.parent_id AS "parentId" FROM monitor_parents p
     JOIN monitors m ON m.id = p.monitor_id JOIN monitors parent ON parent.id = p.parent_id
     WHERE m.project_id = ? AND m.deleted_at IS NULL AND parent.deleted_at IS NULL ORDER BY 1, 2`,
    [projectId],
  )
}

/** Lets one transaction at a time change the parents of a project. Otherwise two changes together could close a cycle. */
export async function lockParents(tx: Tx, projectId: string): Promise<void> {
  await query(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.monitorParents}, hashtext(?))`, [projectId])
}

/** All parents of one monitor. */
export type MonitorParents = { monitorId: string; parentIds: string[] }

export async function replaceParents(tx: Tx, moved: MonitorParents[]): Promise<void> {
  const bindings = {
    monitorIds: moved.map(({ monitorId }) => monitorId),
    pairs: JSON.stringify(
      moved.flatMap(({ monitorId, parentIds }) => parentIds.map(parentId => ({ monitorId, parentId }))),
    ),
  }
  const pairs = 'jsonb_to_recordset(:pairs::jsonb) AS pair ("monitorId" uuid, "parentId" uuid)'
  await execute(
    tx,
    `DELETE FROM monitor_parents WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[]))
       AND NOT EXISTS (SELECT FROM ${pairs} WHERE "monitorId" = monitor_id AND "parentId" = parent_id)`,
    bindings,
  )
  await execute(
    tx,
    `INSERT INTO monitor_parents (monitor_id, parent_id) SELECT "monitorId", "parentId" FROM ${pairs}
     ON CONFLICT DO NOTHING`,
    bindings,
  )
}
