import { Type } from 'typebox'
import { EVENT_NAMES } from '../events/catalog.ts'
import { DIGEST } from '../events/digest.ts'
import { now } from '../platform/clock.ts'
import { isDeliveryId, isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { type Caller, callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { severalOf } from '../web/filters.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, dataOf, IdParams, pageProperties, pageOf as pageSchema, strictObject } from '../web/schemas.ts'
import { replayDelivery, unknownEntry } from './actions.ts'
import { channelIdOf, channelNames } from './channel-name.ts'
import { LogEntry, presentLogEntry } from './log-entry.ts'
import { findDelivery, hasChannel, listDeliveries } from './store.ts'
import { DELIVERY_STATUSES } from './types.ts'

const LogQuery = strictObject({
  ...pageProperties,
  ...channelNames(),
  event: Type.Optional(Type.String({ description: `one event name or ${DIGEST}, or several separated by commas` })),
  status: Type.Optional(Type.String({ description: 'one status, or several separated by commas' })),
})

export type LogContext = { db: Db; secrets: Secrets; keptDays: number }

/** The alert log: what was sent to whom, what came back, and sending it again (decisions 6.7). */
export function deliveryRoutes(app: App, { db, secrets, keptDays }: LogContext): void {
  const readEntry = async (caller: Caller, id: string) => {
    if (!isDeliveryId(id)) throw notFound('log entry')
    const row = await findDelivery(db, caller.projectId, id)
    if (!row) throw unknownEntry(id, now(), keptDays)
    return presentLogEntry(row, secrets, caller)
  }

  app.get(
    '/alerts/log',
    {
      schema: {
        summary: 'List deliveries, newest first',
        tags: ['Alerts'],
        querystring: LogQuery,
        response: answers(200, pageSchema(LogEntry), 400, 404),
      },
    },
    async request => {
      const caller = callerOf(request)
      const { projectId } = caller
      const { event, status } = request.query
      const channelId = channelIdOf(request.query)
      const filter = {
        channelId,
        events: severalOf('event', event, [...EVENT_NAMES, DIGEST]),
        statuses: severalOf('status', status, DELIVERY_STATUSES),
      }
      if (channelId !== null && !(isId(channelId) && (await hasChannel(db, projectId, channelId)))) {
        throw notFound('channel')
      }
      const { rows, total } = await listDeliveries(db, projectId, filter, pageOf(request.query))
      return { data: rows.map(row => presentLogEntry(row, secrets, caller)), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/alerts/log/:id',
    {
      schema: {
        summary: 'One delivery with every attempt',
        tags: ['Alerts'],
        params: IdParams,
        response: answers(200, dataOf(LogEntry), 404),
      },
    },
    async request => ({ data: await readEntry(callerOf(request), request.params.id) }),
  )

  app.post(
    '/alerts/log/:id/retry',
    {
      schema: {
        summary: 'Send a delivery again: the same id and bytes, with X-Service-Delivery-Retry',
        tags: ['Alerts'],
        params: IdParams,
        response: answers(200, dataOf(LogEntry), 404, 409),
      },
    },
    async request => {
      const caller = callerOf(request)
      const { id } = request.params
      if (!isDeliveryId(id)) throw notFound('log entry')
      await replayDelivery(actingAs(db, request), caller.projectId, id, now(), unknownEntry(id, now(), keptDays))
      return { data: await readEntry(caller, id) }
    },
  )
}
