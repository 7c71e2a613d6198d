import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { buildPageMeta, toPageBounds } from '../../../foundation/web/validation/pagination.ts'
import {
  DeletedResponse,
  dataSchema,
  IdParams,
  PageQuery,
  pageSchema,
  responseSchemas,
} from '../../../foundation/web/validation/schemas.ts'
import { SubscriptionCreate, SubscriptionRecord, toSubscriptionResponse } from './subscription.ts'
import { subscribe } from './subscription-actions.ts'
import { deleteSubscription, listSubscriptions } from './subscription-store.ts'

const tags = ['Alerts']

/** Subscriptions of channels to a whole project (docs/design/alerting.md#subscriptions). */
export function subscriptionRoutes(app: App, { db, limits }: { db: Db; limits: InstallationLimits }): void {
  app.get(
    '/alerts/project-channels',
    {
      schema: {
        summary: 'List subscriptions',
        description: 'Channels that receive the incidents or the vendor events of the project, newest first.',
        tags,
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(SubscriptionRecord), 400),
      },
    },
    async request => {
      const { rows, total } = await listSubscriptions(db, getCaller(request).projectId, toPageBounds(request.query))
      return { data: rows.map(toSubscriptionResponse), meta: buildPageMeta(request.query, total) }
    },
  )

  app.post(
    '/alerts/project-channels',
    {
      schema: {
        summary: 'Subscribe a channel',
        description: 'Sends all incidents of the project, or all events of its dependencies, to a channel.',
        tags,
        body: SubscriptionCreate,
        response: responseSchemas(201, dataSchema(SubscriptionRecord), 400, 402, 404, 409),
      },
    },
    async (request, reply) => {
      const subscription = await subscribe(
        withRequestActor(db, request),
        getCaller(request).projectId,
        request.body,
        limits,
        now(),
      )
      return reply.code(201).send({ data: toSubscriptionResponse(subscription) })
    },
  )

  app.delete(
    '/alerts/project-channels/:id',
    {
      schema: {
        summary: 'Delete a subscription',
        tags,
        params: IdParams,
        response: responseSchemas(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await deleteSubscription(withRequestActor(db, request), getCaller(request).projectId, id)))
        throw notFound('subscription')
      return { data: { id, deleted: true as const } }
    },
  )
}
