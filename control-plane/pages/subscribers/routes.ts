import { Type } from 'typebox'
import { decryptConfig } from '../../alerting/channels/config/encrypted-config.ts'
import { getSubscriberKind } from '../../alerting/channels/subscribers/subscriber-kinds.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { deleteRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found, notFound } from '../../foundation/web/server/errors.ts'
import { buildPageMeta, toPageBounds } from '../../foundation/web/validation/pagination.ts'
import {
  Id,
  IdParams,
  nullable,
  PageQuery,
  PaginationMeta,
  responseSchemas,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { findPage } from '../core/page-store.ts'
import { listSubscribers, removeSubscriber } from './store.ts'
import type { StoredSubscriber } from './types.ts'

const SubscriberRecord = Type.Object({
  id: Id,
  status_page_id: Id,
  type: stringEnum(['email', 'webhook']),
  address: Type.String({ description: 'Masked: b***@example.com, or the origin of a webhook.' }),
  component_ids: nullable(Type.Array(Id)),
  is_paused: Type.Boolean({
    description: 'True after too many consecutive failed deliveries. Subscribing again resumes the subscription.',
  }),
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

/** The confirmed subscribers of a page, for its owner. Unconfirmed ones are not listed. */
export function subscriberRoutes(app: App, { db, secrets }: { db: Db; secrets: SecretCipher }): void {
  app.get(
    '/status-pages/:id/subscribers',
    {
      schema: {
        summary: 'List the subscribers of a status page, newest first',
        description: 'Only confirmed subscribers are listed. `meta` counts them by type.',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: responseSchemas(200, SubscriberList, 400, 404),
      },
    },
    async request => {
      const { id } = request.params
      await assertPage(db, getCaller(request).projectId, id)
      const { subscribers, counts } = await listSubscribers(db, id, toPageBounds(request.query))
      return {
        data: subscribers.map(one => toSubscriberResponse(one, secrets)),
        meta: { ...buildPageMeta(request.query, counts.email + counts.webhook), ...counts },
      }
    },
  )

  deleteRoute(app, '/status-pages/:id/subscribers/:sid', {
    summary: 'Remove a subscriber',
    description: 'Also deletes pending deliveries to the subscriber.',
    tags,
    remove: async request => {
      const { id, sid } = request.params
      await assertPage(db, getCaller(request).projectId, id)
      return found(isId(sid) && (await removeSubscriber(withRequestActor(db, request), id, sid)), 'subscriber')
    },
  })
}

async function assertPage(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id) || !(await findPage(db, projectId, id))) throw notFound('status page')
}

function toSubscriberResponse(subscriber: StoredSubscriber, secrets: SecretCipher) {
  const kind = getSubscriberKind(subscriber.kind === 'email' ? 'page_mail' : 'page_webhook')
  const masked = kind.mask(decryptConfig(subscriber, secrets))
  return {
    id: subscriber.id,
    status_page_id: subscriber.pageId,
    type: subscriber.kind,
    address: String(masked.to ?? masked.url),
    component_ids: subscriber.componentIds,
    is_paused: subscriber.pausedAt !== null,
    consecutive_failures: subscriber.consecutiveFailures,
    confirmed_at: subscriber.confirmedAt!,
    created_at: subscriber.createdAt,
    updated_at: subscriber.updatedAt,
  }
}
