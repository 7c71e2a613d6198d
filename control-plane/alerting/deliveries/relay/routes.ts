import { Type } from 'typebox'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { buildPageMeta, toPageBounds } from '../../../foundation/web/validation/pagination.ts'
import {
  dataSchema,
  Id,
  nullable,
  PageQuery,
  pageSchema,
  responseSchemas,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../../foundation/web/validation/schemas.ts'
import { channelIdParams, parseChannelId } from '../log/channel-id-fields.ts'
import { CIRCUIT_STATES, getCircuitState } from './circuit-breaker.ts'
import { listDestinations, type RelayDestination } from './destination-store.ts'
import { redrive } from './redrive-actions.ts'

const RelayDestinationRecord = Type.Object({
  id: Id,
  destination: Type.String({ description: 'origin of the URLs that webhooks with a relay_source_id lead to' }),
  state: stringEnum(CIRCUIT_STATES),
  consecutive_failures: Type.Integer(),
  opened_at: nullable(Timestamp),
  next_trial_at: nullable(Timestamp),
  waiting: Type.Integer({ description: 'messages that the relay still has to bring' }),
  dead: Type.Integer({ description: 'messages that it gave up; GET /alerts/log?status=dead lists them' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const Redrive = strictObject(channelIdParams('left out: all channels that are not paused'))

/** The built-in relay: its circuits, and another try for what it gave up (decisions 6.6). */
export function relayRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/alerts/relay',
    {
      schema: {
        summary: 'List the destinations of the relay with their circuit breakers, by address',
        tags: ['Alerts'],
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(RelayDestinationRecord), 400),
      },
    },
    async request => {
      const { rows, total } = await listDestinations(db, getCaller(request).projectId, toPageBounds(request.query))
      const asOf = now()
      return { data: rows.map(row => toDestinationResponse(row, asOf)), meta: buildPageMeta(request.query, total) }
    },
  )

  app.post(
    '/alerts/relay/redrive',
    {
      schema: {
        summary: 'Send dead deliveries again, at most 10,000 a call: the same ids and bytes, for another day',
        tags: ['Alerts'],
        body: Redrive,
        response: responseSchemas(200, dataSchema(Type.Object({ redriven: Type.Integer() })), 400, 404, 409),
      },
    },
    async request => {
      const channelId = parseChannelId(request.body)
      return {
        data: {
          redriven: await redrive(withRequestActor(db, request), getCaller(request).projectId, channelId, now()),
        },
      }
    },
  )
}

function toDestinationResponse(row: RelayDestination, asOf: Date) {
  return {
    id: row.id,
    destination: row.origin,
    state: getCircuitState(row, asOf),
    consecutive_failures: row.consecutiveFailures,
    opened_at: row.openedAt,
    next_trial_at: row.nextTrialAt,
    waiting: row.waiting,
    dead: row.dead,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}
