import { IS_ACTIVE_MEMBERSHIP } from '../../../../accounts/members/active-condition.ts'
import { type Db, query, type Tx } from '../../../../foundation/platform/postgres/client.ts'
import type { NoticeChannel } from './pause-email.ts'

/** SQL: the channel `c` of a project is paused, and its admins were not informed about this pause. */
const IS_UNANNOUNCED = `c.is_paused AND c.page_id IS NULL AND c.person_id IS NULL
  AND (c.pause_announced_at IS NULL OR c.pause_announced_at < c.paused_at)`

/**
 * Lists organizations with a pause that was not announced, except those with an announcement after `since`. A time after `now`
 * is from before the clock was set back.
 */
export async function listOrganizationsToInform(
  db: Db,
  { since, now, limit }: { since: Date; now: Date; limit: number },
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT o.id FROM organizations o WHERE o.deleted_at IS NULL
       AND o.id IN (SELECT p.organization_id FROM alert_channels c JOIN projects p ON p.id = c.project_id WHERE ${IS_UNANNOUNCED})
       AND NOT EXISTS (
         SELECT FROM alert_channels c JOIN projects p ON p.id = c.project_id
         WHERE p.organization_id = o.id AND c.pause_announced_at > :since AND c.pause_announced_at <= :now)
     ORDER BY o.id LIMIT :limit`,
    { since, now, limit },
  )
  return rows.map(({ id }) => id)
}

/** Marks the pauses of an organization as announced and returns their channels, the first pause first. */
export async function takeUnannounced(tx: Tx, organizationId: string, now: Date): Promise<NoticeChannel[]> {
  const rows = await query<NoticeChannel & { pausedAt: Date }>(
    tx,
    `WITH found AS (
       SELECT c.id FROM alert_channels c JOIN projects p ON p.id = c.project_id
       WHERE p.organization_id = :organizationId AND ${IS_UNANNOUNCED} ORDER BY c.id FOR NO KEY UPDATE OF c SKIP LOCKED
     )
     UPDATE alert_channels c SET pause_announced_at = greatest(:now, c.paused_at) FROM found WHERE c.id = found.id
     RETURNING c.id, c.name, coalesce(c.paused_reason, 'its deliveries failed') AS reason, c.paused_at AS "pausedAt"`,
    { organizationId, now },
  )
  return rows
    .toSorted((a, b) => a.pausedAt.getTime() - b.pausedAt.getTime())
    .map(({ id, name, reason }) => ({ id, name, reason }))
}

/** Addresses of admins that were proven by an email, because anyone can name an address of another person. */
export async function listProvenAdmins(tx: Tx, organizationId: string, limit: number): Promise<string[]> {
  const rows = await query<{ email: string }>(
    tx,
    `SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.organization_id = :organizationId AND m.role = 'admin' AND u.email_proven_at IS NOT NULL
       AND ${IS_ACTIVE_MEMBERSHIP}
     ORDER BY m.created_at, u.id LIMIT :limit`,
    { organizationId, limit },
  )
  return rows.map(({ email }) => email)
}
