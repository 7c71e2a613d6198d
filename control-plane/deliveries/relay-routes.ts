import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import {
  answers,
  dataOf,
  enumOf,
  Id,
  nullable,
  PageQuery,
  pageOf as pageSchema,
  strictObject,
  Timestamp,
} from '../web/schemas.ts'
import { channelIdOf, channelNames } from './channel-name.ts'
import { CIRCUIT_STATES, stateOf } from './circuit.ts'
import { type Destination, listDestinations } from './circuit-store.ts'
import { redrive } from './redrive-actions.ts'

const Circuit = Type.Object({
  id: Id,
  destination: Type.String({ description: 'origin of the URLs that webhooks with a relay_source_id lead to' }),
  state: enumOf(CIRCUIT_STATES),
  consecutive_failures: Type.Integer(),
  opened_at: nullable(Timestamp),
  next_trial_at: nullable(Timestamp),
  waiting: Type.Integer({ description: 'messages that the relay still has to bring' }),
  dead: Type.Integer({ description: 'messages that it gave up; GET /alerts/log?status=dead lists them' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const Redrive = strictObject(channelNames('left out: all channels that are not paused'))

/** The built-in relay: its circuits, and another try for what it gave up (decisions 6.6). */
export function relayRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/alerts/relay',
    {
      schema: {
        summary: 'List the destinations of the relay with their circuit breakers, by address',
        tags: ['Alerts'],
        querystring: PageQuery,
        response: answers(200, pageSchema(Circuit), 400),
      },
    },
    async request => {
      const { rows, total } = await listDestinations(db, callerOf(request).projectId, pageOf(request.query))
      const asOf = now()
      return { data: rows.map(row => presentCircuit(row, asOf)), meta: metaOf(request.query, total) }
    },
  )

  app.post(
    '/alerts/relay/redrive',
    {
      schema: {
        summary: 'Send dead deliveries again, at most 10,000 a call: the same ids and bytes, for another day',
        tags: ['Alerts'],
        body: Redrive,
        response: answers(200, dataOf(Type.Object({ redriven: Type.Integer() })), 400, 404, 409),
      },
    },
    async request => {
      const channelId = channelIdOf(request.body)
      return { data: { redriven: await redrive(actingAs(db, request), callerOf(request).projectId, channelId, now()) } }
    },
  )
}

function presentCircuit(row: Destination, asOf: Date) {
  return {
    id: row.id,
    destination: row.origin,
    state: stateOf(row, asOf),
    consecutive_failures: row.consecutiveFailures,
    opened_at: row.openedAt,
    next_trial_at: row.nextTrialAt,
    waiting: row.waiting,
    dead: row.dead,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}
