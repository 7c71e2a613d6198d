import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { StoredSubscription } from './subscription.ts'

export const SUBSCRIPTION_COLUMNS = `
  id, project_id AS "projectId", alert_channel_id AS "alertChannelId", alert_type AS "alertType",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** All subscriptions of the projects. */
export async function listSubscriptionsOfProjects(db: Db, projectIds: string[]): Promise<StoredSubscription[]> {
  if (projectIds.length === 0) return []
  const sql = `SELECT ${SUBSCRIPTION_COLUMNS} FROM alert_subscriptions WHERE project_id = ANY (?::uuid[]) ORDER BY id`
  return query(db, sql, [projectIds])
}

/** One page of a project's subscriptions, newest first, and the total. */
export async function listSubscriptions(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: StoredSubscription[]; total: number }> {
  const rows = await query<StoredSubscription>(
    db,
    `SELECT ${SUBSCRIPTION_COLUMNS} FROM alert_subscriptions WHERE project_id = :projectId
     ORDER BY id DESC LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  const [count] = await query<{ total: number }>(
    db,
    'SELECT count(*) AS total FROM alert_subscriptions WHERE project_id = ?',
    [projectId],
  )
  return { rows, total: count?.total ?? 0 }
}

/** Violates a unique constraint when the channel has this subscription. */
export async function insertSubscription(tx: Tx, subscription: StoredSubscription): Promise<void> {
  await execute(
    tx,
    `INSERT INTO alert_subscriptions (id, project_id, alert_channel_id, alert_type, created_at, updated_at)
     VALUES (:id, :projectId, :alertChannelId, :alertType, :createdAt, :updatedAt)`,
    subscription,
  )
}

/** False when there is none. */
export async function deleteSubscription(db: Db, projectId: string, id: string): Promise<boolean> {
  const sql = 'DELETE FROM alert_subscriptions WHERE project_id = ? AND id = ?'
  return (await execute(db, sql, [projectId, id])) === 1
}
