import { now } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres.ts'
import { actingFor } from '../../web/acting.ts'
import { type Act, insertAct, pruneAuditLog } from './store.ts'

/**
 * Writes to the audit log what somebody did that changes no row of a table it watches: a sign-in, a replay. Who it was is
 * known of a transaction of actingAs or actingFor (web/acting.ts); in another nobody acts, and nothing is written.
 */
export const recordAct = (tx: Db, act: Act): Promise<void> => insertAct(tx, act)

export type Person = { id: string; email: string }

/** The database for what a person does in the browser, in one of their organizations. */
export const actingAsPerson = (db: Db, { id, email }: Person, ip: string, organizationId: string): Db =>
  actingFor(db, { kind: 'user', id, name: email, ip, projectId: null, organizationId })

/** Drops what is older than a year; nothing else can be (migration 0018). */
export const forgetOldActs = (db: Db): Promise<number> => pruneAuditLog(db, now())
