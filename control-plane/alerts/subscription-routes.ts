import type { Limits } from '../accounts/plans.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { presentSubscription, SubscriptionCreate, SubscriptionRecord } from './subscription.ts'
import { subscribe } from './subscription-actions.ts'
import { deleteSubscription, listSubscriptions } from './subscription-store.ts'

const tags = ['Alerts']

/** Which channels hear of a whole project (specification, "Project-level channel subscription"; decisions 6.1). */
export function subscriptionRoutes(app: App, { db, limits }: { db: Db; limits: Limits }): void {
  app.get(
    '/alerts/project-channels',
    {
      schema: {
        summary: 'List the channels that hear of incidents or of dependencies, newest first',
        tags,
        querystring: PageQuery,
        response: answers(200, pageSchema(SubscriptionRecord), 400),
      },
    },
    async request => {
      const { rows, total } = await listSubscriptions(db, callerOf(request).projectId, pageOf(request.query))
      return { data: rows.map(presentSubscription), meta: metaOf(request.query, total) }
    },
  )

  app.post(
    '/alerts/project-channels',
    {
      schema: {
        summary: 'Let a channel hear of all incidents, or of all dependencies',
        tags,
        body: SubscriptionCreate,
        response: answers(201, dataOf(SubscriptionRecord), 400, 402, 404, 409),
      },
    },
    async (request, reply) => {
      const subscription = await subscribe(
        actingAs(db, request),
        callerOf(request).projectId,
        request.body,
        limits,
        now(),
      )
      return reply.code(201).send({ data: presentSubscription(subscription) })
    },
  )

  app.delete(
    '/alerts/project-channels/:id',
    {
      schema: { summary: 'End a subscription', tags, params: IdParams, response: answers(200, DeletedResponse, 404) },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await deleteSubscription(actingAs(db, request), callerOf(request).projectId, id)))
        throw notFound('subscription')
      return { data: { id, deleted: true as const } }
    },
  )
}
