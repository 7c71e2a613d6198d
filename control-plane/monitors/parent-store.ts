import { type Db, execute, query, type Tx } from '../platform/postgres.ts'
import type { MonitorStatus } from './types.ts'

export type Parent = { id: string; name: string; status: MonitorStatus | null }

/** The parents of a monitor that still are, in the order of ids. */
export function parentsOf(db: Db, monitorId: string): Promise<Parent[]> {
  return query(
    db,
    `SELECT m.id, m.name, m.status FROM monitor_parents p JOIN monitors m ON m.id = p.parent_id
     WHERE p.monitor_id = ? AND m.deleted_at IS NULL ORDER BY m.id`,
    [monitorId],
  )
}

/** Which monitors of a project depend on which; deleted ones left out. */
export function parentPairs(db: Db, projectId: string): Promise<{ monitorId: string; parentId: string }[]> {
  return query(
    db,
    `SELECT p.monitor_id AS "monitorId", p.parent_id AS "parentId" FROM monitor_parents p
     JOIN monitors m ON m.id = p.monitor_id JOIN monitors parent ON parent.id = p.parent_id
     WHERE m.project_id = ? AND m.deleted_at IS NULL AND parent.deleted_at IS NULL ORDER BY 1, 2`,
    [projectId],
  )
}

/** One transaction at a time changes the parents of a project, or two together could close a circle. */
export async function lockParents(tx: Tx, projectId: string): Promise<void> {
  await query(tx, 'SELECT pg_advisory_xact_lock(7026004, hashtext(?))', [projectId])
}

/** Whether one of these monitors is below `monitorId`, through however many others. */
export async function isBelow(tx: Tx, monitorId: string, ids: string[]): Promise<boolean> {
  const sql = 'SELECT 1 FROM ancestors_of(CAST(:ids AS uuid[])) WHERE ancestor_id = :monitorId LIMIT 1'
  return (await query(tx, sql, { monitorId, ids })).length > 0
}

export async function replaceParents(tx: Tx, monitorId: string, parentIds: string[]): Promise<void> {
  await execute(
    tx,
    'DELETE FROM monitor_parents WHERE monitor_id = :monitorId AND parent_id <> ALL (CAST(:parentIds AS uuid[]))',
    { monitorId, parentIds },
  )
  await execute(
    tx,
    `INSERT INTO monitor_parents (monitor_id, parent_id)
     SELECT :monitorId, parent_id FROM unnest(CAST(:parentIds AS uuid[])) AS row (parent_id)
     ON CONFLICT DO NOTHING`,
    { monitorId, parentIds },
  )
}
