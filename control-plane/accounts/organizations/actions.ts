import { now } from '../../platform/clock.ts'
import { isId } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres.ts'
import { notFound } from '../../web/errors.ts'
import { createApiKey } from '../api-keys/actions.ts'
import { apiNameOf, COUNTED, type Limits, PLAN_LIMITS, type Plan } from '../plans.ts'
import { readUsage } from '../store.ts'
import { findOrganization, keysOf, type ListedOrganization, membersOf, projectsOf, updateName } from './store.ts'

/** Everything that the operator may want to know of an organization. Throws 404. */
export async function describeOrganization(db: Db, id: string, limits: Limits) {
  const { name, plan, createdAt } = await existingOrganization(db, id)
  const usages = await Promise.all(
    COUNTED.map(async counted => {
      const { used, limit } = await readUsage(db, id, counted, limits)
      return [apiNameOf(counted), { used, limit }] as const
    }),
  )
  return {
    ...{ id, name, plan, created_at: createdAt },
    usage: Object.fromEntries(usages),
    custom_domain: PLAN_LIMITS[plan].customDomain,
    projects: await projectsOf(db, id),
    members: await membersOf(db, id),
    api_keys: await keysOf(db, id),
  }
}

/** Throws 404. */
export const planOf = async (db: Db, id: string): Promise<Plan> => (await existingOrganization(db, id)).plan

/** Throws 404. */
export async function renameOrganization(db: Db, id: string, name: string): Promise<void> {
  if (!isId(id) || !(await updateName(db, id, name, now()))) throw notFound('organization')
}

/** An admin key of an organization's first project, made for people who lost theirs. Throws 404. */
export async function createKeyFor(db: Db, organizationId: string, name: string): Promise<string> {
  await existingOrganization(db, organizationId)
  const [project] = await projectsOf(db, organizationId)
  if (!project) throw notFound('project')
  return (await createApiKey(db, { projectId: project.id, userId: null }, { name, scope: 'admin' })).key
}

/** Throws 404, also for one that was deleted. */
export async function existingOrganization(db: Db, id: string): Promise<ListedOrganization> {
  const organization = isId(id) ? await findOrganization(db, id) : null
  if (!organization) throw notFound('organization')
  return organization
}
