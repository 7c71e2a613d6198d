import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { randomToken } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../../foundation/platform/time/clock.ts'
import { buildLinkUrl, LINK_LIFETIME_MS, type LinkPurpose } from './link.ts'
import { insertLink, invalidateLinks, pruneLinks, removeUnusedLinks } from './store.ts'

export type LinkParts = {
  purpose: LinkPurpose
  /** it is mailed, or handed over by the operator, and shown to nobody else */
  provesEmail: boolean
  /** it is handed over by the operator */
  fromOperator?: boolean
  publicUrl: string
}

/** A new link with which somebody sets a password; their older ones of that kind are void. Kept as a hash. */
export async function createPasswordLink(
  tx: Tx,
  userId: string,
  { publicUrl, fromOperator = false, ...kind }: LinkParts,
): Promise<string> {
  const now = clock()
  const token = randomToken(32)
  await removeUnusedLinks(tx, userId, kind)
  await insertLink(tx, {
    tokenHash: sha256(token),
    userId,
    ...kind,
    fromOperator,
    expiresAt: new Date(now.getTime() + LINK_LIFETIME_MS[kind.purpose]),
    now,
  })
  return buildLinkUrl(publicUrl, kind.purpose, token)
}

/** The same for the operator, who means it to be the only one: every other link of that person is void. */
export async function replacePasswordLinks(tx: Tx, userId: string, publicUrl: string): Promise<string> {
  await invalidateLinks(tx, userId, clock())
  return createPasswordLink(tx, userId, { purpose: 'claim', provesEmail: true, fromOperator: true, publicUrl })
}

const RETENTION_MS = 30 * 86_400_000

/** After a month nobody is told any more why their link does not work. */
export const pruneExpiredLinks = (db: Db, now: Date) => pruneLinks(db, new Date(now.getTime() - RETENTION_MS))
