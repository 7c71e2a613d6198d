import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { type CountedResource, DEFAULT_LIMITS, type InstallationLimits, type PlanName, type Usage } from './plans.ts'

/** SQL that counts each resource of an organization. Monitors of a data source count as that source. */
const COUNTS: Record<CountedResource, string> = {
  monitors: `SELECT count(*) FROM monitors JOIN projects ON projects.id = monitors.project_id
             WHERE projects.organization_id = :organizationId AND monitors.deleted_at IS NULL
               AND monitors.data_source_id IS NULL`,
  statusPages: `SELECT count(*) FROM status_pages JOIN projects ON projects.id = status_pages.project_id
                WHERE projects.organization_id = :organizationId`,
  dataSources: `SELECT count(*) FROM data_sources JOIN projects ON projects.id = data_sources.project_id
                WHERE projects.organization_id = :organizationId`,
  // channels of status page subscribers and of persons do not count
  alertChannels: `SELECT count(*) FROM alert_channels c JOIN projects ON projects.id = c.project_id
                  WHERE projects.organization_id = :organizationId AND c.page_id IS NULL AND c.person_id IS NULL`,
  alertSubscriptions: `SELECT count(*) FROM alert_subscriptions s JOIN projects ON projects.id = s.project_id
                       WHERE projects.organization_id = :organizationId`,
  apiKeys: `SELECT count(*) FROM api_keys JOIN projects ON projects.id = api_keys.project_id
            WHERE projects.organization_id = :organizationId`,
  // windows that have ended do not count
  maintenanceWindows: `SELECT count(*) FROM maintenance_windows w JOIN projects ON projects.id = w.project_id
                       WHERE projects.organization_id = :organizationId AND (w.ends_at IS NULL OR w.ends_at > now())`,
  // automatic incidents are never refused and do not count
  openIncidents: `SELECT count(*) FROM incidents i JOIN projects ON projects.id = i.project_id
                  WHERE projects.organization_id = :organizationId AND i.source = 'manual' AND i.resolved_at IS NULL`,
  subscribers: `SELECT count(*) FROM page_subscribers s JOIN projects ON projects.id = s.project_id
                WHERE projects.organization_id = :organizationId AND s.confirmed_at IS NOT NULL`,
  members: 'SELECT count(*) FROM memberships WHERE organization_id = :organizationId',
}

/**
 * Reads the organization's plan and count and locks its row until the transaction ends, so that two requests together cannot
 * exceed a limit.
 */
export async function lockUsage(
  tx: Db,
  organizationId: string,
  counted: CountedResource,
  limits: InstallationLimits = DEFAULT_LIMITS,
): Promise<Usage> {
  // two statements: the count must see what the previous holder of the lock committed
  await tx.raw('SELECT 1 FROM organizations WHERE id = ? FOR NO KEY UPDATE', [organizationId])
  return readUsage(tx, organizationId, counted, limits)
}

/** Reads the organization's current plan and count. Throws 404 for a deleted organization. */
export async function readUsage(
  db: Db,
  organizationId: string,
  counted: CountedResource,
  limits: InstallationLimits = DEFAULT_LIMITS,
): Promise<Usage> {
  const [row] = await query<{ plan: PlanName; used: number }>(
    db,
    `SELECT plan, (${COUNTS[counted]})::integer AS used FROM organizations
     WHERE id = :organizationId AND deleted_at IS NULL`,
    { organizationId },
  )
  // the key of a deleted organization stays cached for a few seconds
  const { plan, used } = found(row, 'organization')
  return { plan, counted, limit: limits[counted][plan], used }
}

/** Throws 404 for a deleted organization. */
export async function getPlan(db: Db, organizationId: string): Promise<PlanName> {
  const sql = 'SELECT plan FROM organizations WHERE id = ? AND deleted_at IS NULL'
  const [row] = await query<{ plan: PlanName }>(db, sql, [organizationId])
  return found(row, 'organization').plan
}

/** Throws 404 for a deleted project. */
export async function getOrganizationId(db: Db, projectId: string): Promise<string> {
  const sql = 'SELECT organization_id AS id FROM projects WHERE id = ?'
  const [row] = await query<{ id: string }>(db, sql, [projectId])
  return found(row, 'project').id
}

/** Returns false for an unknown organization. */
export async function updatePlan(db: Db, organizationId: string, plan: PlanName, now: Date): Promise<boolean> {
  const sql = 'UPDATE organizations SET plan = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL'
  return (await execute(db, sql, [plan, now, organizationId])) === 1
}

type ProjectRow = { id: string; name: string; plan: PlanName; created_at: Date; updated_at: Date }

/** A project with its organization's plan. */
export async function findProject(db: Db, projectId: string): Promise<ProjectRow | null> {
  const [row] = await query<ProjectRow>(
    db,
    `SELECT projects.id, projects.name, organizations.plan, projects.created_at, projects.updated_at
     FROM projects JOIN organizations ON organizations.id = projects.organization_id WHERE projects.id = ?`,
    [projectId],
  )
  return row ?? null
}
