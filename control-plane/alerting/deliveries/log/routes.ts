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
import { findDelivery, hasChannel, hasIncident, hasMonitor, listDeliveries } from './store.ts'

const LogQuery = strictObject({
  ...pageProperties,
  ...channelIdParams(),
  event: Type.Optional(
    Type.String({ description: `One or more event names, or \`${DIGEST_EVENT}\`, separated by commas.` }),
  ),
  status: Type.Optional(Type.String({ description: 'One or more statuses, separated by commas.' })),
  monitor_id: Type.Optional(
    Type.String({ description: 'Deliveries of the events of this monitor, and digests that contain one.' }),
  ),
  incident_id: Type.Optional(
    Type.String({
      description:
        'Deliveries of the events of this incident and of the events of its monitor that name it, and digests that contain one.',
    }),
  ),
})

type AlertLogContext = { db: Db; secrets: SecretCipher; retentionDays: number }

/** The alert log: requests, responses and replay (docs/design/deliveries.md#log). */
export function alertLogRoutes(app: App, context: AlertLogContext): void {
  readRoutes(app, context)
  retryRoutes(app, context)
}

function readRoutes(app: App, context: AlertLogContext): void {
  const { db, secrets } = context
  app.get(
    '/alerts/log',
    {
      schema: {
        summary: 'List deliveries',
        description: 'Newest first. Deliveries to subscribers of status pages are not included.',
        tags: ['Alerts'],
        querystring: LogQuery,
        response: responseSchemas(200, pageSchema(LogEntry), 400, 404),
      },
    },
    async request => {
      const caller = getCaller(request)
      const { projectId } = caller
      const { event, status, monitor_id: monitorId = null, incident_id: incidentId = null } = request.query
      const channelId = parseChannelId(request.query)
      const filter = {
        channelId,
        monitorId,
        incidentId,
        events: parseListFilter('event', event, [...EVENT_NAMES, DIGEST_EVENT]),
        statuses: parseListFilter('status', status, DELIVERY_STATUSES),
      }
      await assertOwn('channel', channelId, id => hasChannel(db, projectId, id))
      await assertOwn('monitor', monitorId, id => hasMonitor(db, projectId, id))
      await assertOwn('incident', incidentId, id => hasIncident(db, projectId, id))
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
        summary: 'Get a delivery',
        description: 'Returns the stored request and the attempts with their responses.',
        tags: ['Alerts'],
        params: IdParams,
        response: responseSchemas(200, dataSchema(LogEntry), 404),
      },
    },
    async request => ({ data: await readEntry(context, getCaller(request), request.params.id) }),
  )
}

/** Throws 404 unless the id of a filter is null or exists. */
async function assertOwn(kind: string, id: string | null, exists: (id: string) => Promise<boolean>): Promise<void> {
  if (id !== null && !(isId(id) && (await exists(id)))) throw notFound(kind)
}

function retryRoutes(app: App, context: AlertLogContext): void {
  app.post(
    '/alerts/log/:id/retry',
    {
      schema: {
        summary: 'Send a delivery again',
        description:
          'Sends the stored body with the same delivery id and the header `X-Service-Delivery-Retry`, to the current address of the channel.',
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
        withRequestActor(context.db, request),
        caller.projectId,
        id,
        now(),
        buildLogEntryNotFound(id, now(), context.retentionDays),
      )
      return { data: await readEntry(context, caller, id) }
    },
  )
}

async function readEntry({ db, secrets, retentionDays }: AlertLogContext, caller: ApiCaller, id: string) {
  if (!isDeliveryId(id)) throw notFound('log entry')
  const row = await findDelivery(db, caller.projectId, id)
  if (!row) throw buildLogEntryNotFound(id, now(), retentionDays)
  return toLogEntryResponse(row, secrets, caller)
}
