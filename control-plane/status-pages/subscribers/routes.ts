import { Type } from 'typebox'
import { openConfig } from '../../channels/sealed.ts'
import { subscriberKindOf } from '../../channels/subscriber-kinds.ts'
import { isId } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { actingAs } from '../../web/acting.ts'
import type { App } from '../../web/app.ts'
import { callerOf } from '../../web/auth.ts'
import { notFound } from '../../web/errors.ts'
import { metaOf, pageOf } from '../../web/pages.ts'
import {
  answers,
  DeletedResponse,
  enumOf,
  Id,
  IdParams,
  nullable,
  PageQuery,
  PaginationMeta,
  Timestamp,
} from '../../web/schemas.ts'
import { findPage } from '../store.ts'
import { listSubscribers, removeSubscriber } from './store.ts'
import type { StoredSubscriber } from './types.ts'

const SubscriberRecord = Type.Object({
  id: Id,
  status_page_id: Id,
  type: enumOf(['email', 'webhook']),
  address: Type.String({ description: 'masked: b***@example.com, or the origin of a webhook' }),
  component_ids: nullable(Type.Array(Id)),
  is_paused: Type.Boolean({ description: 'too many deliveries in a row failed; subscribing again ends it' }),
  consecutive_failures: Type.Integer(),
  confirmed_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
})
const SubscriberList = Type.Object({
  data: Type.Array(SubscriberRecord),
  meta: Type.Object({ ...PaginationMeta.properties, email: Type.Integer(), webhook: Type.Integer() }),
})

const tags = ['Status pages']

/** Who hears of a page's incidents, for its owner. Who has not confirmed is nobody yet, and is not shown. */
export function subscriberRoutes(app: App, { db, secrets }: { db: Db; secrets: Secrets }): void {
  app.get(
    '/status-pages/:id/subscribers',
    {
      schema: {
        summary: 'List the subscribers of a page, newest first; meta counts them by type',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, SubscriberList, 400, 404),
      },
    },
    async request => {
      const { id } = request.params
      await assertPage(db, callerOf(request).projectId, id)
      const { subscribers, counts } = await listSubscribers(db, id, pageOf(request.query))
      return {
        data: subscribers.map(one => presentSubscriber(one, secrets)),
        meta: { ...metaOf(request.query, counts.email + counts.webhook), ...counts },
      }
    },
  )

  app.delete(
    '/status-pages/:id/subscribers/:sid',
    {
      schema: {
        summary: 'Remove a subscriber, with what is still to be sent to them',
        tags,
        params: Type.Object({ id: Type.String(), sid: Type.String() }),
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id, sid } = request.params
      await assertPage(db, callerOf(request).projectId, id)
      if (!isId(sid) || !(await removeSubscriber(actingAs(db, request), id, sid))) throw notFound('subscriber')
      return { data: { id: sid, deleted: true as const } }
    },
  )
}

async function assertPage(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id) || !(await findPage(db, projectId, id))) throw notFound('status page')
}

function presentSubscriber(subscriber: StoredSubscriber, secrets: Secrets) {
  const kind = subscriberKindOf(subscriber.kind === 'email' ? 'page_mail' : 'page_webhook')
  const shown = kind.mask(openConfig(subscriber, secrets))
  return {
    id: subscriber.id,
    status_page_id: subscriber.pageId,
    type: subscriber.kind,
    address: String(shown.to ?? shown.url),
    component_ids: subscriber.componentIds,
    is_paused: subscriber.pausedAt !== null,
    consecutive_failures: subscriber.consecutiveFailures,
    confirmed_at: subscriber.confirmedAt!,
    created_at: subscriber.createdAt,
    updated_at: subscriber.updatedAt,
  }
}
