import { Type } from 'typebox'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { listRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import {
  dataSchema,
  Id,
  nullable,
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
  destination: Type.String({ description: 'Origin of the webhook URLs of channels with a `relay_source_id`.' }),
  state: stringEnum(CIRCUIT_STATES),
  consecutive_failures: Type.Integer(),
  opened_at: nullable(Timestamp),
  next_trial_at: nullable(Timestamp),
  waiting: Type.Integer({ description: 'Number of messages that are still to be delivered.' }),
  dead: Type.Integer({
    description: 'Number of messages that the relay gave up. `GET /alerts/log?status=dead` lists them.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const Redrive = strictObject(channelIdParams('Defaults to all channels that are not paused.'))

/** The built-in relay: destinations with their circuits, and redrive (docs/design/deliveries.md#relay). */
export function relayRoutes(app: App, { db }: { db: Db }): void {
  listRoute(app, '/alerts/relay', {
    summary: 'List the destinations of the relay',
    description: 'Destinations with their circuit breakers, ordered by origin.',
    tags: ['Alerts'],
    record: RelayDestinationRecord,
    list: async (request, bounds) => {
      const { rows, total } = await listDestinations(db, getCaller(request).projectId, bounds)
      const asOf = now()
      return { data: rows.map(row => toDestinationResponse(row, asOf)), total }
    },
  })

  app.post(
    '/alerts/relay/redrive',
    {
      schema: {
        summary: 'Send dead deliveries again',
        description:
          'Sends at most 10,000 deliveries a call, oldest first, with the same ids and bodies. The relay tries them for another 24 hours.',
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
