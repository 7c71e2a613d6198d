import { lockOrganization } from '../../../accounts/members/store.ts'
import { assertWithinLimit } from '../../../accounts/plans/actions.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { getOrganizationId } from '../../../accounts/plans/store.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation } from '../../../foundation/platform/postgres/client.ts'
import { conflict, notFound } from '../../../foundation/web/server/errors.ts'
import { holdChannels } from './rule-store.ts'
import type { StoredSubscription, SubscriptionCreate } from './subscription.ts'
import { insertSubscription } from './subscription-store.ts'

/** Subscribes a channel. Throws 404 for an unknown channel, 402 beyond the limit of the plan, 409 when the subscription exists. */
export async function subscribe(
  db: Db,
  projectId: string,
  { alert_channel_id, alert_type }: SubscriptionCreate,
  limits: InstallationLimits,
  now: Date,
): Promise<StoredSubscription> {
  const alertChannelId = alert_channel_id.toLowerCase()
  return await db.transaction(async tx => {
    // the organization is locked before the channel, as in an import
    const organizationId = await getOrganizationId(tx, projectId)
    await lockOrganization(tx, organizationId)
    if (!isId(alertChannelId) || !(await holdChannels(tx, projectId, [alertChannelId]))) throw notFound('channel')
    await assertWithinLimit(tx, organizationId, 'alertSubscriptions', 1, limits)
    const subscription: StoredSubscription = {
      id: newId(),
      projectId,
      alertChannelId,
      alertType: alert_type,
      createdAt: now,
      updatedAt: now,
    }
    try {
      await insertSubscription(tx, subscription)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw conflict(`this channel is already subscribed to ${alert_type}`)
    }
    return subscription
  })
}
