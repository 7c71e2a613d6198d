import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'
import type { PlanName } from '../plans/plans.ts'

export const REGISTRATION_WINDOW_MS = 3_600_000

/** Serializes the attempts of one network over all processes until the transaction ends. */
export const lockNetwork = (tx: Tx, network: string) =>
  tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.bootstrap}, hashtext(?))`, [network])

/** The times of the attempts of the last hour, newest first. `created`: those that created an account, or the refused ones. */
export async function listNetworkAttempts(db: Db, network: string, created: boolean, now: Date): Promise<Date[]> {
  const rows = await query<{ at: Date }>(
    db,
    'SELECT at FROM bootstrap_attempts WHERE ip = ?::inet AND created = ? AND at > ? ORDER BY at DESC',
    [network, created, new Date(now.getTime() - REGISTRATION_WINDOW_MS)],
  )
  return rows.map(({ at }) => at)
}

export const insertRegistrationAttempt = (db: Db, network: string, created: boolean, now: Date) =>
  execute(db, 'INSERT INTO bootstrap_attempts (ip, created, at) VALUES (?::inet, ?, ?)', [network, created, now])

export const pruneRegistrationAttempts = (db: Db, now: Date) =>
  execute(db, 'DELETE FROM bootstrap_attempts WHERE at < ?', [new Date(now.getTime() - REGISTRATION_WINDOW_MS)])

type NewUser = { userId: string; email: string; name: string | null; now: Date }

/** Returns false when the email address is registered. */
export async function insertUser(tx: Tx, user: NewUser): Promise<boolean> {
  const inserted = await execute(
    tx,
    `INSERT INTO users (id, email, name, created_at, updated_at) VALUES (:userId, :email, :name, :now, :now)
     ON CONFLICT (email) DO NOTHING`,
    user,
  )
  return inserted === 1
}

type NewOrganization = {
  organizationId: string
  projectId: string
  userId: string
  name: string
  projectName: string
  plan: PlanName
  /** the admin's address is not proven */
  awaitsProof?: boolean
  now: Date
}

/** Inserts an organization with one project and one admin. */
export async function insertOrganization(tx: Tx, organization: NewOrganization): Promise<void> {
  const { organizationId, projectId, userId, name, projectName, plan, awaitsProof = false, now } = organization
  const times = { created_at: now, updated_at: now }
  await tx('organizations').insert({ id: organizationId, name, plan, ...times })
  await tx('projects').insert({ id: projectId, organization_id: organizationId, name: projectName, ...times })
  await tx('memberships').insert({
    organization_id: organizationId,
    user_id: userId,
    role: 'admin',
    awaits_proof: awaitsProof,
    entered_at: awaitsProof ? null : now,
    created_at: now,
  })
}
