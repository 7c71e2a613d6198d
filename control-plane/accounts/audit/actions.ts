import { now } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres.ts'
import { type Act, insertAct, pruneAuditLog } from './store.ts'

/**
 * Writes to the audit log what somebody did that changes no row of a table it watches: a sign-in, a replay. Who it was is
 * known of a transaction of actingAs or actingFor (web/acting.ts); in another nobody acts, and nothing is written.
 */
export const recordAct = (tx: Db, act: Act): Promise<void> => insertAct(tx, act)

/** Drops what is older than a year; nothing else can be (migration 0018). */
export const forgetOldActs = (db: Db): Promise<number> => pruneAuditLog(db, now())
