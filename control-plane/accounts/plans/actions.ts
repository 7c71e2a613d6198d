import { isId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { notFound, planUpgradeRequired, tierLimitReached, validationError } from '../../foundation/web/server/errors.ts'
import {
  type CountedResource,
  checkPlanLimit,
  DEFAULT_LIMITS,
  type InstallationLimits,
  PLAN_LIMITS,
  PLANS,
  type PlanName,
} from './plans.ts'
import { getOrganizationId, lockUsage, readUsage, updatePlan } from './store.ts'

/**
 * Throws 402 `tier_limit_reached` unless the organization's plan allows `adding` more (docs/design/accounts.md#plans). Locks
 * the organization's row until the transaction ends; add the rows in the same transaction.
 */
export async function assertWithinLimit(
  tx: Tx,
  organizationId: string,
  counted: CountedResource,
  adding: number,
  limits: InstallationLimits = DEFAULT_LIMITS,
) {
  const late = findLateLimits(tx)
  late?.limits.set(counted, limits)
  if (late?.isDeleting) return
  const usage = await (late ? readUsage : lockUsage)(tx, organizationId, counted, limits)
  const refusal = checkPlanLimit(usage, adding)
  if (refusal !== null) throw tierLimitReached(refusal)
}

type LateLimits = { limits: Map<CountedResource, InstallationLimits>; isDeleting: boolean }

/** Transactions that lock the organization's row at their end, with the limits that they check then. */
const lateLimits = new WeakMap<Tx, LateLimits>()

/** Also for a transaction inside of one that locks late. */
function findLateLimits(tx: Tx): LateLimits | undefined {
  const late = lateLimits.get(tx)
  return late || !tx.parentTransaction ? late : findLateLimits(tx.parentTransaction)
}

/**
 * Lets a long transaction check limits without a lock, so that creates of the organization do not wait for all of it. Call
 * `assertLateLimits` before it ends. With `isDeleting`, limits are checked only then: the transaction deletes records after
 * it has created others, so it may exceed a limit before.
 */
export const lockLimitsLate = (tx: Tx, { isDeleting }: { isDeleting: boolean }): unknown =>
  lateLimits.set(tx, { limits: new Map(), isDeleting })

/** Locks the organization's row and checks the limits again, with the rows that the transaction has added. Throws 402. */
export async function assertLateLimits(tx: Tx, organizationId: string): Promise<void> {
  const late = [...(lateLimits.get(tx)?.limits ?? [])]
  lateLimits.delete(tx)
  for (const [counted, limits] of late) await assertWithinLimit(tx, organizationId, counted, 0, limits)
}

/** The same, for a project's organization. */
export const assertProjectWithinLimit = async (
  tx: Tx,
  projectId: string,
  counted: CountedResource,
  limits: InstallationLimits,
  adding = 1,
) => assertWithinLimit(tx, await getOrganizationId(tx, projectId), counted, adding, limits)

/**
 * Throws 403 `plan_upgrade_required` unless the organization's plan includes custom domains. In a transaction, the plan
 * cannot change until it ends.
 */
export async function assertPlanAllowsDomains(db: Db, organizationId: string): Promise<void> {
  const { plan } = await lockUsage(db, organizationId, 'statusPages')
  if (!PLAN_LIMITS[plan].customDomain) throw planUpgradeRequired(`the ${plan} plan does not include custom domains`)
}

/** Changes a plan, for the operator. Throws for an unknown organization or plan. */
export async function changePlan(db: Db, organizationId: string, plan: string): Promise<void> {
  if (!(PLANS as readonly string[]).includes(plan)) {
    throw validationError([
      { path: 'plan', message: `plan "${plan}" does not exist; must be one of ${PLANS.join(', ')}` },
    ])
  }
  if (!isId(organizationId) || !(await updatePlan(db, organizationId, plan as PlanName, now()))) {
    throw notFound('organization')
  }
}
