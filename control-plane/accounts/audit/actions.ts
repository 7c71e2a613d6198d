import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withAuditActor } from '../../foundation/web/auth/audit-actor.ts'
import { type AuditRecord, insertAuditRecord, pruneAuditLog } from './store.ts'

/**
 * Writes to the audit log what somebody did that changes no row of a table it watches: a sign-in, a replay. Who it was is
 * known of a transaction of actingAs or actingFor (web/acting.ts); in another nobody acts, and nothing is written.
 */
export const recordAudit = (tx: Db, act: AuditRecord): Promise<void> => insertAuditRecord(tx, act)

export type UserIdentity = { id: string; email: string }

/** The database for what a person does in the browser, in one of their organizations. */
export const withUserActor = (db: Db, { id, email }: UserIdentity, ip: string, organizationId: string): Db =>
  withAuditActor(db, { kind: 'user', id, name: email, ip, projectId: null, organizationId })

/** Drops what is older than a year; nothing else can be (migration 0018). */
export const deleteExpiredAuditRecords = (db: Db): Promise<number> => pruneAuditLog(db, now())
