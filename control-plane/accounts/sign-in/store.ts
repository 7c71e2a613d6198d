import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { isStorable } from '../../foundation/web/validation/body.ts'

export type UserAccount = { id: string; email: string; passwordHash: string | null }

/** By the address in small letters, whatever somebody wrote. `passwordHash` null: the account was not claimed yet. */
export async function findAccount(db: Db, email: string): Promise<UserAccount | null> {
  if (!isStorable(email)) return null
  const [row] = await query<UserAccount>(
    db,
    'SELECT id, email, password_hash AS "passwordHash" FROM users WHERE email = ?',
    [email],
  )
  return row ?? null
}

/** False when the password is another one by now; else it stays what it is until the transaction ends. */
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

/** Somebody reads the mail of that address: memberships that waited for it begin. */
export async function markEmailProven(tx: Tx, userId: string, now: Date): Promise<void> {
  await execute(tx, 'UPDATE users SET email_proven_at = coalesce(email_proven_at, ?) WHERE id = ?', [now, userId])
  await execute(tx, 'UPDATE memberships SET awaits_proof = false WHERE user_id = ? AND awaits_proof', [userId])
}

/** False when the password is another one than `before` by now. */
export async function replacePassword(tx: Tx, account: UserAccount, passwordHash: string, now: Date): Promise<boolean> {
  const touched = await execute(
    tx,
    'UPDATE users SET password_hash = :passwordHash, updated_at = :now WHERE id = :id AND password_hash = :before',
    { id: account.id, before: account.passwordHash, passwordHash, now },
  )
  return touched === 1
}
