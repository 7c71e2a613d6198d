import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { found, notFound } from '../../foundation/web/server/errors.ts'
import { createApiKey } from '../api-keys/actions.ts'
import { COUNTED_RESOURCES, type InstallationLimits, PLAN_LIMITS, type PlanName, toApiName } from '../plans/plans.ts'
import { readUsage } from '../plans/store.ts'
import {
  findOrganization,
  type ListedOrganization,
  listOrganizationKeys,
  listOrganizationMembers,
  listProjects,
  updateName,
} from './store.ts'

/** Describes an organization for the operator: usage, projects, members, keys. Throws 404. */
export async function describeOrganization(db: Db, id: string, limits: InstallationLimits) {
  const { name, plan, createdAt } = await getOrganization(db, id)
  const usages = await Promise.all(
    COUNTED_RESOURCES.map(async counted => {
      const { used, limit } = await readUsage(db, id, counted, limits)
      return [toApiName(counted), { used, limit }] as const
    }),
  )
  return {
    ...{ id, name, plan, created_at: createdAt },
    usage: Object.fromEntries(usages),
    custom_domain: PLAN_LIMITS[plan].customDomain,
    projects: await listProjects(db, id),
    members: await listOrganizationMembers(db, id),
    api_keys: await listOrganizationKeys(db, id),
  }
}

/** Throws 404. */
export const getOrganizationPlan = async (db: Db, id: string): Promise<PlanName> => (await getOrganization(db, id)).plan

/** Throws 404. */
export async function renameOrganization(db: Db, id: string, name: string): Promise<void> {
  if (!isId(id) || !(await updateName(db, id, name, now()))) throw notFound('organization')
}

/** Creates an admin key in an organization's first project, for people who lost theirs. Throws 404. */
export async function createKeyFor(db: Db, organizationId: string, name: string): Promise<string> {
  await getOrganization(db, organizationId)
  const [project] = await listProjects(db, organizationId)
  return (await createApiKey(db, { projectId: found(project, 'project').id, userId: null }, { name, scope: 'admin' }))
    .key
}

/** Throws 404, also for a deleted organization. */
export async function getOrganization(db: Db, id: string): Promise<ListedOrganization> {
  return found(isId(id) && (await findOrganization(db, id)), 'organization')
}
