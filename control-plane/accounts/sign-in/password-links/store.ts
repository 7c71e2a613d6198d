import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { LinkProblem, LinkPurpose } from './link.ts'

/** `fromOperator`: created at the command line. */
type LinkKind = { purpose: LinkPurpose; provesEmail: boolean; fromOperator: boolean }
type NewPasswordLink = LinkKind & {
  tokenHash: Buffer
  userId: string
  organizationId: string | null
  expiresAt: Date
  now: Date
}

export const insertLink = (tx: Db, link: NewPasswordLink) =>
  execute(
    tx,
    `INSERT INTO claim_links
       (token_hash, user_id, purpose, proves_email, from_operator, organization_id, expires_at, created_at)
     VALUES (:tokenHash, :userId, :purpose, :provesEmail, :fromOperator, :organizationId, :expiresAt, :now)`,
    link,
  )

export type PasswordLinkOwner = {
  userId: string
  email: string
  name: string | null
  isClaimed: boolean
  provesEmail: boolean
  /** the organization that sent the link */
  organizationId: string | null
  /** this mailed link is the first one that proves the address: it opens an access review */
  opensReview: boolean
}

type LinkRow = PasswordLinkOwner & { expiresAt: Date; usedAt: Date | null }

const LINK = 'FROM claim_links l JOIN users u ON u.id = l.user_id WHERE l.token_hash = ? AND l.purpose = ?'

/** Like findLink, and locks the owner: a concurrent use of the same or another link of the user waits and finds it used. */
export async function lockLink(
  tx: Tx,
  tokenHash: Buffer,
  purpose: LinkPurpose,
  now: Date,
): Promise<PasswordLinkOwner | LinkProblem> {
  await query(tx, `SELECT 1 ${LINK} FOR UPDATE OF u`, [tokenHash, purpose])
  return findLink(tx, tokenHash, purpose, now)
}

/** Returns the owner of a link, or why the link does not work. */
export async function findLink(
  db: Db,
  tokenHash: Buffer,
  purpose: LinkPurpose,
  now: Date,
): Promise<PasswordLinkOwner | LinkProblem> {
  const [row] = await query<LinkRow>(
    db,
    `SELECT u.id AS "userId", u.email, u.name, u.password_hash IS NOT NULL AS "isClaimed", l.proves_email AS "provesEmail",
       l.organization_id AS "organizationId", l.proves_email AND NOT l.from_operator AND u.email_proven_at IS NULL AS "opensReview", l.expires_at AS "expiresAt", l.used_at AS "usedAt" ${LINK}`,
    [tokenHash, purpose],
  )
  if (!row) return 'unknown'
  if (row.usedAt !== null) return 'used'
  return row.expiresAt <= now ? 'expired' : row
}

/**
 * Marks all unused links of a user as used. Before the address is proven, links that prove it stay valid: the person who has
 * the password may not be its owner.
 */
export const invalidateLinks = (tx: Tx, userId: string, now: Date) =>
  execute(
    tx,
    `UPDATE claim_links l SET used_at = :now FROM users u
     WHERE u.id = l.user_id AND l.user_id = :userId AND l.used_at IS NULL
       AND (u.email_proven_at IS NOT NULL OR NOT l.proves_email)`,
    { userId, now },
  )

type LinkSender = LinkKind & { organizationId: string | null }

/**
 * Deletes the unused links of a kind that a newer one replaces: those of the same organization. A link of the operator replaces
 * all. Links that do not prove the address come from the one organization that created the account.
 */
export const removeReplacedLinks = (tx: Tx, userId: string, sender: LinkSender) =>
  execute(
    tx,
    `DELETE FROM claim_links
     WHERE user_id = :userId AND purpose = :purpose AND proves_email = :provesEmail AND used_at IS NULL
       AND (:fromOperator OR NOT :provesEmail
         OR NOT from_operator AND organization_id IS NOT DISTINCT FROM CAST(:organizationId AS uuid))`,
    { userId, ...sender },
  )

/** Deletes the oldest unused links of a kind, except those of the operator, beyond \`kept\`. */
export const removeOldestLinks = (
  tx: Tx,
  userId: string,
  { purpose, provesEmail }: Pick<LinkKind, 'purpose' | 'provesEmail'>,
  kept: number,
) =>
  execute(
    tx,
    `DELETE FROM claim_links WHERE token_hash IN (
       SELECT token_hash FROM claim_links
       WHERE user_id = :userId AND purpose = :purpose AND proves_email = :provesEmail AND used_at IS NULL AND NOT from_operator
       ORDER BY created_at DESC, token_hash OFFSET :kept)`,
    { userId, purpose, provesEmail, kept },
  )

export const pruneLinks = (db: Db, before: Date) =>
  execute(db, 'DELETE FROM claim_links WHERE expires_at < ?', [before])
