import { assertWithinLimit } from '../accounts/actions.ts'
import { lockOrganization } from '../accounts/members/store.ts'
import type { Limits } from '../accounts/plans.ts'
import { organizationOf } from '../accounts/store.ts'
import { isId, newId } from '../platform/ids.ts'
import { type Db, isUniqueViolation } from '../platform/postgres.ts'
import { conflict, notFound } from '../web/errors.ts'
import { holdChannels } from './store.ts'
import type { StoredSubscription, SubscriptionCreate } from './subscription.ts'
import { insertSubscription } from './subscription-store.ts'

/** Throws 404 for a channel that the project does not have, 402 when the plan is full, 409 when it is subscribed to this already (decisions 6.3). */
export async function subscribe(
  db: Db,
  projectId: string,
  { alert_channel_id, alert_type }: SubscriptionCreate,
  limits: Limits,
  now: Date,
): Promise<StoredSubscription> {
  const alertChannelId = alert_channel_id.toLowerCase()
  return await db.transaction(async tx => {
    // before the channel, as an import does
    const organizationId = await organizationOf(tx, projectId)
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
      throw conflict(`this channel is subscribed to ${alert_type} already`)
    }
    return subscription
  })
}
