import type { Db } from '../../platform/postgres.ts'
import type { Acting } from '../../web/acting.ts'
import { type Act, insertAct } from './store.ts'

/**
 * Writes to the audit log what somebody did that changes no row of a table it watches: a sign-in, a new password. Give
 * the transaction of the act, when it has one. Changes of rows are written by themselves (migrations/postgres/audited.ts).
 */
export const recordAct = (tx: Db, acting: Acting, act: Act): Promise<void> => insertAct(tx, acting, act)
