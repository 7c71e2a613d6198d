import type { FastifyRequest } from 'fastify'
import { beginningWith, type Db, type Tx, withSetting } from '../platform/postgres.ts'
import { type Actor, callerOf } from './auth.ts'
import { addressIn } from './client-address.ts'
import { claimOf } from './idempotency.ts'
import { markCarriedOut } from './store.ts'

/** An actor, from where, and in whose account: what each row of the audit log says of who did it. */
export type Acting = Actor & {
  /** as the connection or a trusted proxy says it; what is no address is not written */
  ip: string | null
  projectId: string | null
  organizationId: string | null
}

/** The operator's command line. What it changes is told to the organization whose it is. */
export const OPERATOR: Acting = {
  ...{ kind: 'operator', id: null, name: 'operator' },
  ...{ ip: null, projectId: null, organizationId: null },
}

/** Who sends an authenticated request. */
export function actingOf(request: FastifyRequest): Acting {
  const { actor, projectId, organizationId } = callerOf(request)
  return { ...actor, ip: request.ip, projectId, organizationId }
}

/**
 * The database for a route that changes something: what its transactions change is written to the audit log as done by
 * whoever sends the request (migrations/postgres/audited.ts), and as carried out under its Idempotency-Key. Never for
 * verdicts, deliveries and other work of our own.
 */
export function actingAs(db: Db, request: FastifyRequest): Db {
  const acting = actingFor(db, actingOf(request))
  const claim = claimOf(request)
  return claim ? beginningWith(acting, tx => markCarriedOut(tx, claim)) : acting
}

/** The same for somebody who has no API key: the operator, a person who claims an account. */
export function actingFor(db: Db, { ip, ...acting }: Acting): Db {
  const told: Acting = { ...acting, ip: ip === null ? null : addressIn(ip) }
  return withSetting(db, 'picket.actor', JSON.stringify(told))
}

/** From here on nobody acts in the transaction: what follows is told by an act that was recorded for all of it. */
export const nobodyActs = (tx: Tx): Promise<unknown> => tx.raw(`SELECT set_config('picket.actor', '', true)`)

/** The same for all of what is done on a database. */
export const withoutActor = (db: Db): Db => withSetting(db, 'picket.actor', '')

/** The tools of a room's actions, with the database acting as whoever sends the request. */
export const toolsActingAs = <Tools extends { db: Db }>(tools: Tools, request: FastifyRequest): Tools => ({
  ...tools,
  db: actingAs(tools.db, request),
})
