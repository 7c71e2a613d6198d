import type { FastifyRequest } from 'fastify'
import { type Db, type Tx, withSetting, withTransactionSteps } from '../../platform/postgres/client.ts'
import { withRequestVersion } from '../conditions/version-actions.ts'
import { parseClientAddress } from '../limits/client-address.ts'
import { markCarriedOut } from '../server/idempotency-store.ts'
import { type Actor, getCaller } from './authentication.ts'

/** The actor of an audit log entry, with address and tenant. */
export type AuditActor = Actor & {
  /** from the connection or a trusted proxy; a text that is not an address is not stored */
  ip: string | null
  projectId: string | null
  organizationId: string | null
}

/** The operator's command line. Its changes appear in the audit log of the organization concerned. */
export const OPERATOR_ACTOR: AuditActor = {
  ...{ kind: 'operator', id: null, name: 'operator' },
  ...{ ip: null, projectId: null, organizationId: null },
}

/** The actor of an authenticated request. */
export function getAuditActor(request: FastifyRequest): AuditActor {
  const { actor, projectId, organizationId } = getCaller(request)
  return { ...actor, ip: request.ip, projectId, organizationId }
}

/**
 * The database for a route that changes something. Its transactions write their changes to the audit log with the sender of
 * the request as actor (migrations/postgres/audit-trigger.ts), mark the Idempotency-Key as carried out, and check `If-Match`.
 * Never for verdicts, deliveries and other background work. See docs/design/api.md#audit-log.
 */
export function withRequestActor(db: Db, request: FastifyRequest): Db {
  const actorDb = withAuditActor(db, getAuditActor(request))
  const { idempotencyClaim: claim, recordVersion: version } = request
  const markedDb = claim ? withTransactionSteps(actorDb, tx => markCarriedOut(tx, claim)) : actorDb
  return version ? withRequestVersion(markedDb, version) : markedDb
}

/** The same without an API key: for the operator, or a person who claims an account. */
export function withAuditActor(db: Db, { ip, ...rest }: AuditActor): Db {
  const actor: AuditActor = { ...rest, ip: ip === null ? null : parseClientAddress(ip) }
  return withSetting(db, 'picket.actor', JSON.stringify(actor))
}

/** Removes the actor for the rest of the transaction, because one entry was recorded for all that follows. */
export const clearActor = (tx: Tx): Promise<unknown> => tx.raw(`SELECT set_config('picket.actor', '', true)`)

/** The same database without an actor. */
export const withoutActor = (db: Db): Db => withSetting(db, 'picket.actor', '')

/** The tools of an area's actions, with a database whose actor is the sender of the request. */
export const withActor = <Tools extends { db: Db }>(tools: Tools, request: FastifyRequest): Tools => ({
  ...tools,
  db: withRequestActor(tools.db, request),
})
