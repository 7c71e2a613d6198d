import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { isStorable } from '../../foundation/web/validation/body.ts'
import { IS_FOUNDER } from '../members/founder-condition.ts'

export type UserAccount = { id: string; email: string; passwordHash: string | null }

/** Finds an account by its address in lower case. `passwordHash` null: the account is not claimed. */
export async function findAccount(db: Db, email: string): Promise<UserAccount | null> {
  if (!isStorable(email)) return null
  const [row] = await query<UserAccount>(
    db,
    'SELECT id, email, password_hash AS "passwordHash" FROM users WHERE email = ?',
    [email],
  )
  return row ?? null
}

/** Locks the password until the transaction ends. Returns false when it has been changed. */
export async function lockPassword(tx: Tx, { id, passwordHash }: UserAccount): Promise<boolean> {
  const sql = 'SELECT 1 FROM users WHERE id = ? AND password_hash = ? FOR SHARE'
  return (await query(tx, sql, [id, passwordHash])).length === 1
}

export const storePassword = (tx: Tx, userId: string, passwordHash: string, now: Date) =>
  execute(
    tx,
    `UPDATE users SET password_hash = :passwordHash, claimed_at = coalesce(claimed_at, :now), updated_at = :now
     WHERE id = :userId`,
    { userId, passwordHash, now },
  )

/**
 * Marks an address as proven. Memberships that waited for the proof become active. With the first proof no organization counts
 * as entered, except those that were founded with the address: another person may have used the account until then.
 */
export async function markEmailProven(tx: Tx, userId: string, now: Date): Promise<void> {
  const sql = 'UPDATE users SET email_proven_at = ? WHERE id = ? AND email_proven_at IS NULL'
  const isFirst = (await execute(tx, sql, [now, userId])) === 1
  if (isFirst) {
    await execute(
      tx,
      `UPDATE memberships m SET entered_at = NULL FROM organizations o
       WHERE o.id = m.organization_id AND m.user_id = ? AND NOT (${IS_FOUNDER})`,
      [userId],
    )
  }
  await execute(tx, 'UPDATE memberships SET awaits_proof = false WHERE user_id = ? AND awaits_proof', [userId])
}

/** Returns false when the password has been changed since it was read. */
export async function replacePassword(tx: Tx, account: UserAccount, passwordHash: string, now: Date): Promise<boolean> {
  const touched = await execute(
    tx,
    'UPDATE users SET password_hash = :passwordHash, updated_at = :now WHERE id = :id AND password_hash = :before',
    { id: account.id, before: account.passwordHash, passwordHash, now },
  )
  return touched === 1
}
