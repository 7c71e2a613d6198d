import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { DirectRecipient } from './direct-recipients.ts'

/**
 * The members of projects who receive direct messages. A suspended membership counts too: alerts continue until an admin
 * has decided about it.
 */
export async function loadDirectRecipients(
  db: Db,
  projectIds: string[],
): Promise<(DirectRecipient & { projectId: string })[]> {
  if (projectIds.length === 0) return []
  return query(
    db,
    `SELECT c.project_id AS "projectId", c.person_id AS "userId", c.id AS "channelId",
       c.person_id IS NOT DISTINCT FROM s.on_call_user_id AS "isOnCall"
     FROM alert_channels c JOIN projects p ON p.id = c.project_id
     JOIN memberships m ON m.organization_id = p.organization_id AND m.user_id = c.person_id
     LEFT JOIN alert_settings s ON s.project_id = c.project_id
     WHERE c.person_id IS NOT NULL AND c.project_id = ANY (?::uuid[]) ORDER BY c.id`,
    [projectIds],
  )
}
