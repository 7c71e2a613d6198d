import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { randomToken } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../../foundation/platform/time/clock.ts'
import { buildLinkUrl, LINK_LIFETIME_MS, type LinkPurpose } from './link.ts'
import { insertLink, invalidateLinks, pruneLinks, removeUnusedLinks } from './store.ts'

type LinkParts = {
  purpose: LinkPurpose
  /** only the owner of the address (by email) or the operator sees the link */
  provesEmail: boolean
  /** created at the operator's command line */
  fromOperator?: boolean
  /** the organization that sends or shows the link; a member who uses it has entered that organization */
  organizationId?: string
  publicUrl: string
}

/** Creates a link that sets a password and invalidates the user's older ones of that kind. Only a hash is stored. */
export async function createPasswordLink(
  tx: Tx,
  userId: string,
  { publicUrl, fromOperator = false, organizationId, ...kind }: LinkParts,
): Promise<string> {
  const now = clock()
  const token = randomToken(32)
  await removeUnusedLinks(tx, userId, kind)
  await insertLink(tx, {
    tokenHash: sha256(token),
    userId,
    ...kind,
    fromOperator,
    organizationId: organizationId ?? null,
    expiresAt: new Date(now.getTime() + LINK_LIFETIME_MS[kind.purpose]),
    now,
  })
  return buildLinkUrl(publicUrl, kind.purpose, token)
}

/** Creates a claim link for the operator and invalidates every other link of the user. */
export async function replacePasswordLinks(tx: Tx, userId: string, publicUrl: string): Promise<string> {
  await invalidateLinks(tx, userId, clock())
  return createPasswordLink(tx, userId, { purpose: 'claim', provesEmail: true, fromOperator: true, publicUrl })
}

const RETENTION_MS = 30 * 86_400_000

/** Deletes links a month after they expired. Until then their page says why they do not work. */
export const pruneExpiredLinks = (db: Db, now: Date) => pruneLinks(db, new Date(now.getTime() - RETENTION_MS))
