import { type Db, execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { claimRows, type LeaseRequest } from '../../../foundation/platform/postgres/lease.ts'

/** A grant of a deleted installation that the provider still has to revoke. Its id is the id of the installation. */
export type Revocation = { id: string; projectId: string; teamId: string; tokens: Buffer; failures: number }

export async function queueRevocation(
  tx: Tx,
  grant: Omit<Revocation, 'failures'>,
  leaseEnd: Date,
  now: Date,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO chat_revocations (id, project_id, team_id, tokens, next_attempt_at, created_at)
     VALUES (:id, :projectId, :teamId, :tokens, :leaseEnd, :now)`,
    { ...grant, leaseEnd, now },
  )
}

export const REVOCATIONS = { table: 'chat_revocations', key: 'id', dueAt: 'next_attempt_at' }
const COLUMNS = 'id, project_id AS "projectId", team_id AS "teamId", tokens, failures'

/** Claims due revocations. */
export const claimRevocations = (db: Db, request: LeaseRequest): Promise<Revocation[]> =>
  claimRows(db, REVOCATIONS, COLUMNS, request)

export const dropRevocation = (db: Db, id: string) => execute(db, 'DELETE FROM chat_revocations WHERE id = ?', [id])

/** Stores the renewed tokens of a grant. */
export const saveRevocationTokens = (db: Db, id: string, tokens: Buffer) =>
  execute(db, 'UPDATE chat_revocations SET tokens = ? WHERE id = ?', [tokens, id])

export const postponeRevocation = (db: Db, id: string, until: Date) =>
  execute(db, 'UPDATE chat_revocations SET failures = failures + 1, next_attempt_at = ? WHERE id = ?', [until, id])

/** Deletes the pending revocations of a team. A team that installs again may get the same grant. */
export const dropRevocationsOfTeam = (tx: Tx, teamId: string) =>
  execute(tx, 'DELETE FROM chat_revocations WHERE team_id = ?', [teamId])
