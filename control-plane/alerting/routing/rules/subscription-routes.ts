import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { SubscriptionCreate, SubscriptionRecord, toSubscriptionResponse } from './subscription.ts'
import { subscribe } from './subscription-actions.ts'
import { deleteSubscription, listSubscriptions } from './subscription-store.ts'

const tags = ['Alerts']

/** Subscriptions of channels to a whole project (docs/design/alerting.md#subscriptions). */
export function subscriptionRoutes(app: App, { db, limits }: { db: Db; limits: InstallationLimits }): void {
  listRoute(app, '/alerts/project-channels', {
    summary: 'List subscriptions',
    description: 'Channels that receive the incidents or the vendor events of the project, newest first.',
    tags,
    record: SubscriptionRecord,
    list: async (request, bounds) => {
      const { rows, total } = await listSubscriptions(db, getCaller(request).projectId, bounds)
      return { data: rows.map(toSubscriptionResponse), total }
    },
  })

  createRoute(app, '/alerts/project-channels', {
    summary: 'Subscribe a channel',
    description: 'Sends all incidents of the project, or all events of its dependencies, to a channel.',
    tags,
    body: SubscriptionCreate,
    record: SubscriptionRecord,
    errors: [400, 402, 404, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      return toSubscriptionResponse(
        await subscribe(withRequestActor(db, request), projectId, request.body, limits, now()),
      )
    },
  })

  deleteRoute(app, '/alerts/project-channels/:id', {
    summary: 'Delete a subscription',
    tags,
    remove: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      return found(isId(id) && (await deleteSubscription(withRequestActor(db, request), projectId, id)), 'subscription')
    },
  })
}
