import { type Db, execute, query, type Tx } from '../../platform/postgres.ts'
import type { Dead, Purpose } from './link.ts'

export type NewLink = { tokenHash: Buffer; userId: string; purpose: Purpose; expiresAt: Date; now: Date }

export const insertLink = (tx: Db, link: NewLink) =>
  execute(
    tx,
    `INSERT INTO claim_links (token_hash, user_id, purpose, expires_at, created_at)
     VALUES (:tokenHash, :userId, :purpose, :expiresAt, :now)`,
    link,
  )

export type LinkOwner = { userId: string; email: string; name: string | null }

type LinkRow = LinkOwner & { expiresAt: Date; usedAt: Date | null }

const linkSql = (
  lock: string,
) => `SELECT u.id AS "userId", u.email, u.name, l.expires_at AS "expiresAt", l.used_at AS "usedAt"
  FROM claim_links l JOIN users u ON u.id = l.user_id WHERE l.token_hash = ? AND l.purpose = ? ${lock}`

/** Whose link it is, or why it is nobody's any more. */
export const findLink = (db: Db, tokenHash: Buffer, purpose: Purpose, now: Date) =>
  readLink(db, linkSql(''), tokenHash, purpose, now)

/** The same, and of two at once the second one waits and finds it used. */
export const lockLink = (tx: Tx, tokenHash: Buffer, purpose: Purpose, now: Date) =>
  readLink(tx, linkSql('FOR UPDATE'), tokenHash, purpose, now)

async function readLink(
  db: Db,
  sql: string,
  tokenHash: Buffer,
  purpose: Purpose,
  now: Date,
): Promise<LinkOwner | Dead> {
  const [row] = await query<LinkRow>(db, sql, [tokenHash, purpose])
  if (!row) return 'unknown'
  if (row.usedAt !== null) return 'used'
  return row.expiresAt <= now ? 'expired' : row
}

/** After a password is set no other link of that person works. */
export const spendLinks = (tx: Tx, userId: string, now: Date) =>
  execute(tx, 'UPDATE claim_links SET used_at = :now WHERE user_id = :userId AND used_at IS NULL', { userId, now })

/** The links of a purpose that were not used are void: there is a newer one. */
export const dropLinks = (tx: Tx, userId: string, purpose: Purpose) =>
  execute(tx, 'DELETE FROM claim_links WHERE user_id = ? AND purpose = ? AND used_at IS NULL', [userId, purpose])

export const pruneLinks = (db: Db, before: Date) =>
  execute(db, 'DELETE FROM claim_links WHERE expires_at < ?', [before])
