import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { StoredInstallation } from './installation.ts'
import { INSTALLATION_COLUMNS } from './installation-store.ts'

type DueChatWork = { renewals: boolean; people: boolean; revocations: boolean; buttons: boolean }

const ACTIVE = 'FROM chat_installations WHERE revoked_at IS NULL'
const RENEWING = '(renewing_until IS NULL OR renewing_until <= :now)'

/** Returns which work is due. It is the only query of an idle loop. */
export async function loadDueWork(db: Db, now: Date): Promise<DueChatWork> {
  const [due] = await query<DueChatWork>(
    db,
    `SELECT EXISTS (SELECT ${ACTIVE} AND renew_at <= :now AND ${RENEWING}) AS renewals,
       EXISTS (SELECT ${ACTIVE} AND people_due_at <= :now) AS people,
       EXISTS (SELECT FROM chat_revocations WHERE next_attempt_at <= :now) AS revocations,
       EXISTS (SELECT FROM deliveries WHERE chat_message IS NOT NULL) AS buttons`,
    { now },
  )
  return due!
}

/** Claims installations whose token is due for renewal. */
export const claimRenewals = (db: Db, leaseEnd: Date, now: Date): Promise<StoredInstallation[]> =>
  query(
    db,
    `UPDATE chat_installations SET renewing_until = :leaseEnd WHERE id IN (
       SELECT id ${ACTIVE} AND renew_at <= :now AND ${RENEWING} ORDER BY renew_at LIMIT 20 FOR UPDATE SKIP LOCKED)
     RETURNING ${INSTALLATION_COLUMNS}`,
    { leaseEnd, now },
  )

/** Claims one installation whose people are due to be matched. Only one, because matching takes a while. */
export async function claimPeopleMatch(db: Db, leaseEnd: Date, now: Date): Promise<StoredInstallation | null> {
  const [row] = await query<StoredInstallation>(
    db,
    `UPDATE chat_installations SET people_due_at = :leaseEnd WHERE id = (
       SELECT id ${ACTIVE} AND people_due_at <= :now ORDER BY people_due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING ${INSTALLATION_COLUMNS}`,
    { leaseEnd, now },
  )
  return row ?? null
}
