import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withAuditActor } from '../../foundation/web/auth/audit-actor.ts'
import { type AuditRecord, insertAuditRecord, pruneAuditLog } from './store.ts'

/**
 * Writes an act to the audit log that changes no row of an audited table: a sign-in, a replay. The actor is that of the
 * transaction (foundation/web/auth/audit-actor.ts); without an actor nothing is written.
 */
export const recordAudit = (tx: Db, act: AuditRecord): Promise<void> => insertAuditRecord(tx, act)

export type UserIdentity = { id: string; email: string }

/** Returns a database whose transactions act as a user in the browser, in one of the user's organizations. */
export const withUserActor = (db: Db, { id, email }: UserIdentity, ip: string, organizationId: string): Db =>
  withAuditActor(db, { kind: 'user', id, name: email, ip, projectId: null, organizationId })

const BATCH_SIZE = 10_000

/**
 * Deletes entries older than a year, in batches until none is left or the signal is aborted. Younger ones cannot be deleted
 * (migration 0018). Returns the number of deleted ones.
 */
export async function deleteExpiredAuditRecords(db: Db, signal: AbortSignal): Promise<number> {
  let total = 0
  for (let isMore = true; isMore && !signal.aborted; ) {
    const count = await pruneAuditLog(db, now(), BATCH_SIZE)
    total += count
    isMore = count === BATCH_SIZE
  }
  return total
}
