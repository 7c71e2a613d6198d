import { Type } from 'typebox'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isDeliveryId, isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { type ApiCaller, getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { parseListFilter } from '../../../foundation/web/validation/list-filter.ts'
import { buildPageMeta, toPageBounds } from '../../../foundation/web/validation/pagination.ts'
import {
  dataSchema,
  IdParams,
  pageProperties,
  pageSchema,
  responseSchemas,
  strictObject,
} from '../../../foundation/web/validation/schemas.ts'
import { EVENT_NAMES } from '../../events/catalog.ts'
import { DIGEST_EVENT } from '../../events/digest.ts'
import { buildLogEntryNotFound, replayDelivery } from '../queue/enqueue-actions.ts'
import { DELIVERY_STATUSES } from '../types.ts'
import { channelIdParams, parseChannelId } from './channel-id-fields.ts'
import { LogEntry, toLogEntryResponse } from './log-entry.ts'
import { findDelivery, hasChannel, listDeliveries } from './store.ts'

const LogQuery = strictObject({
  ...pageProperties,
  ...channelIdParams(),
  event: Type.Optional(
    Type.String({ description: `one event name or ${DIGEST_EVENT}, or several separated by commas` }),
  ),
  status: Type.Optional(Type.String({ description: 'one status, or several separated by commas' })),
})

export type AlertLogContext = { db: Db; secrets: SecretCipher; retentionDays: number }

/** The alert log: what was sent to whom, what came back, and sending it again (decisions 6.7). */
export function alertLogRoutes(app: App, { db, secrets, retentionDays: keptDays }: AlertLogContext): void {
  const readEntry = async (caller: ApiCaller, id: string) => {
    if (!isDeliveryId(id)) throw notFound('log entry')
    const row = await findDelivery(db, caller.projectId, id)
    if (!row) throw buildLogEntryNotFound(id, now(), keptDays)
    return toLogEntryResponse(row, secrets, caller)
  }

  app.get(
    '/alerts/log',
    {
      schema: {
        summary: 'List deliveries, newest first',
        tags: ['Alerts'],
        querystring: LogQuery,
        response: responseSchemas(200, pageSchema(LogEntry), 400, 404),
      },
    },
    async request => {
      const caller = getCaller(request)
      const { projectId } = caller
      const { event, status } = request.query
      const channelId = parseChannelId(request.query)
      const filter = {
        channelId,
        events: parseListFilter('event', event, [...EVENT_NAMES, DIGEST_EVENT]),
        statuses: parseListFilter('status', status, DELIVERY_STATUSES),
      }
      if (channelId !== null && !(isId(channelId) && (await hasChannel(db, projectId, channelId)))) {
        throw notFound('channel')
      }
      const { rows, total } = await listDeliveries(db, projectId, filter, toPageBounds(request.query))
      return {
        data: rows.map(row => toLogEntryResponse(row, secrets, caller)),
        meta: buildPageMeta(request.query, total),
      }
    },
  )

  app.get(
    '/alerts/log/:id',
    {
      schema: {
        summary: 'One delivery with every attempt',
        tags: ['Alerts'],
        params: IdParams,
        response: responseSchemas(200, dataSchema(LogEntry), 404),
      },
    },
    async request => ({ data: await readEntry(getCaller(request), request.params.id) }),
  )

  app.post(
    '/alerts/log/:id/retry',
    {
      schema: {
        summary: 'Send a delivery again: the same id and bytes, with X-Service-Delivery-Retry',
        tags: ['Alerts'],
        params: IdParams,
        response: responseSchemas(200, dataSchema(LogEntry), 404, 409),
      },
    },
    async request => {
      const caller = getCaller(request)
      const { id } = request.params
      if (!isDeliveryId(id)) throw notFound('log entry')
      await replayDelivery(
        withRequestActor(db, request),
        caller.projectId,
        id,
        now(),
        buildLogEntryNotFound(id, now(), keptDays),
      )
      return { data: await readEntry(caller, id) }
    },
  )
}
