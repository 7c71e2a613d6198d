import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { readJoined } from '../../../foundation/platform/postgres/joined-reads.ts'
import {
  buildClaimableSql,
  claimRows,
  type LeaseRequest,
  updateHeldRow,
} from '../../../foundation/platform/postgres/lease.ts'
import type { StoredInstallation } from './installation.ts'
import { INSTALLATION_COLUMNS } from './installation-store.ts'
import { REVOCATIONS } from './revocation-store.ts'

type DueChatWork = { renewals: boolean; people: boolean; revocations: boolean; buttons: boolean }

const ACTIVE_INSTALLATIONS = { table: 'chat_installations', key: 'id', condition: 't.revoked_at IS NULL' }
const RENEWALS = { ...ACTIVE_INSTALLATIONS, dueAt: 'renew_at', leaseEnd: 'renewing_until' }
/** The end of its lease identifies the claim: it is also changed when a check is scheduled meanwhile. */
const PEOPLE_MATCHES = { ...ACTIVE_INSTALLATIONS, dueAt: 'people_due_at', holder: 'people_due_at' }

/** Returns which work is due. It is the only query of an idle loop. */
export async function loadDueWork(db: Db, now: Date): Promise<DueChatWork> {
  const due = await readJoined<DueChatWork>(
    db,
    `SELECT jsonb_build_object(
       'renewals', EXISTS (SELECT ${buildClaimableSql(RENEWALS)}),
       'people', EXISTS (SELECT ${buildClaimableSql(PEOPLE_MATCHES)}),
       'revocations', EXISTS (SELECT ${buildClaimableSql(REVOCATIONS)}),
       'buttons', EXISTS (SELECT FROM deliveries WHERE chat_message IS NOT NULL))`,
    { now },
  )
  return due!
}

/** Claims installations whose token is due for renewal. */
export const claimRenewals = (db: Db, request: LeaseRequest): Promise<StoredInstallation[]> =>
  claimRows(db, RENEWALS, INSTALLATION_COLUMNS, request)

type ClaimedMatch = StoredInstallation & { leaseEnd: Date }

/** Claims one installation whose people are due to be matched. Only one, because matching takes a while. */
export async function claimPeopleMatch(db: Db, leaseMs: number, now: Date): Promise<ClaimedMatch | null> {
  const columns = `${INSTALLATION_COLUMNS}, people_due_at AS "leaseEnd"`
  const [row] = await claimRows<ClaimedMatch>(db, PEOPLE_MATCHES, columns, { now, leaseMs, limit: 1 })
  return row ?? null
}

/** Schedules the next match of people, unless another one was scheduled meanwhile. */
export const scheduleNextMatch = (db: Db, { id, leaseEnd }: ClaimedMatch, dueAt: Date) =>
  updateHeldRow(db, PEOPLE_MATCHES, { key: id, holder: leaseEnd }, 'people_due_at = :dueAt', { dueAt })
