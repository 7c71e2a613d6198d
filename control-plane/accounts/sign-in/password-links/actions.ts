import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { randomToken } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../../foundation/platform/time/clock.ts'
import { buildLinkUrl, LINK_LIFETIME_MS, type LinkPurpose } from './link.ts'
import { insertLink, invalidateLinks, pruneLinks, removeOldestLinks, removeReplacedLinks } from './store.ts'

type LinkParts = {
  purpose: LinkPurpose
  /** only the owner of the address (by email) or the operator sees the link */
  provesEmail: boolean
  /** created at the operator's command line */
  fromOperator?: boolean
  /** the organization that sends or shows the link; a member who uses it has entered that organization */
  organizationId?: string | null
  publicUrl: string
}

/** Unused links of one kind that a user can have from different organizations. */
const MAX_LINKS = 20

/**
 * Creates a link that sets a password and replaces older ones of that kind from the same organization. Only a hash is stored.
 */
export async function createPasswordLink(
  tx: Tx,
  userId: string,
  { publicUrl, fromOperator = false, organizationId = null, ...kind }: LinkParts,
): Promise<string> {
  const now = clock()
  const token = randomToken(32)
  const link = { ...kind, fromOperator, organizationId }
  await removeReplacedLinks(tx, userId, link)
  const expiresAt = new Date(now.getTime() + LINK_LIFETIME_MS[link.purpose])
  await insertLink(tx, { ...link, tokenHash: sha256(token), userId, expiresAt, now })
  await removeOldestLinks(tx, userId, link, MAX_LINKS)
  return buildLinkUrl(publicUrl, link.purpose, token)
}

/** Creates a claim link for the operator and invalidates every other link of the user. */
export async function replacePasswordLinks(tx: Tx, userId: string, publicUrl: string): Promise<string> {
  await invalidateLinks(tx, userId, clock())
  return createPasswordLink(tx, userId, { purpose: 'claim', provesEmail: true, fromOperator: true, publicUrl })
}

const RETENTION_MS = 30 * 86_400_000

/** Deletes links a month after they expired. Until then their page says why they do not work. */
export const pruneExpiredLinks = (db: Db, now: Date) => pruneLinks(db, new Date(now.getTime() - RETENTION_MS))
