import type { FastifyRequest } from 'fastify'
import { type Db, type Tx, withSetting, withTransactionStart } from '../../platform/postgres/client.ts'
import { parseClientAddress } from '../limits/client-address.ts'
import { findClaim } from '../server/idempotency.ts'
import { markCarriedOut } from '../server/idempotency-store.ts'
import { type Actor, getCaller } from './authentication.ts'

/** An actor, from where, and in whose account: what each row of the audit log says of who did it. */
export type AuditActor = Actor & {
  /** as the connection or a trusted proxy says it; what is no address is not written */
  ip: string | null
  projectId: string | null
  organizationId: string | null
}

/** The operator's command line. What it changes is told to the organization whose it is. */
export const OPERATOR_ACTOR: AuditActor = {
  ...{ kind: 'operator', id: null, name: 'operator' },
  ...{ ip: null, projectId: null, organizationId: null },
}

/** Who sends an authenticated request. */
export function getAuditActor(request: FastifyRequest): AuditActor {
  const { actor, projectId, organizationId } = getCaller(request)
  return { ...actor, ip: request.ip, projectId, organizationId }
}

/**
 * The database for a route that changes something: what its transactions change is written to the audit log as done by
 * whoever sends the request (migrations/postgres/audited.ts), and as carried out under its Idempotency-Key. Never for
 * verdicts, deliveries and other work of our own.
 */
export function withRequestActor(db: Db, request: FastifyRequest): Db {
  const acting = withAuditActor(db, getAuditActor(request))
  const claim = findClaim(request)
  return claim ? withTransactionStart(acting, tx => markCarriedOut(tx, claim)) : acting
}

/** The same for somebody who has no API key: the operator, a person who claims an account. */
export function withAuditActor(db: Db, { ip, ...acting }: AuditActor): Db {
  const told: AuditActor = { ...acting, ip: ip === null ? null : parseClientAddress(ip) }
  return withSetting(db, 'picket.actor', JSON.stringify(told))
}

/** From here on nobody acts in the transaction: what follows is told by an act that was recorded for all of it. */
export const clearActor = (tx: Tx): Promise<unknown> => tx.raw(`SELECT set_config('picket.actor', '', true)`)

/** The same for all of what is done on a database. */
export const withoutActor = (db: Db): Db => withSetting(db, 'picket.actor', '')

/** The tools of a room's actions, with the database acting as whoever sends the request. */
export const withActor = <Tools extends { db: Db }>(tools: Tools, request: FastifyRequest): Tools => ({
  ...tools,
  db: withRequestActor(tools.db, request),
})
