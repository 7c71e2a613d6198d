import { now as clock } from '../../platform/clock.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { sha256 } from '../../platform/secrets.ts'
import { LINK_MS, linkUrl, type Purpose } from './link.ts'
import { dropLinks, insertLink, pruneLinks, spendLinks } from './store.ts'

export type LinkParts = {
  purpose: Purpose
  /** it is mailed, or handed over by the operator, and shown to nobody else */
  provesEmail: boolean
  /** it is handed over by the operator */
  fromOperator?: boolean
  publicUrl: string
}

/** A new link with which somebody sets a password; their older ones of that kind are void. Kept as a hash. */
export async function makeLink(
  tx: Tx,
  userId: string,
  { publicUrl, fromOperator = false, ...kind }: LinkParts,
): Promise<string> {
  const now = clock()
  const token = randomToken(32)
  await dropLinks(tx, userId, kind)
  await insertLink(tx, {
    tokenHash: sha256(token),
    userId,
    ...kind,
    fromOperator,
    expiresAt: new Date(now.getTime() + LINK_MS[kind.purpose]),
    now,
  })
  return linkUrl(publicUrl, kind.purpose, token)
}

/** The same for the operator, who means it to be the only one: every other link of that person is void. */
export async function makeOnlyLink(tx: Tx, userId: string, publicUrl: string): Promise<string> {
  await spendLinks(tx, userId, clock())
  return makeLink(tx, userId, { purpose: 'claim', provesEmail: true, fromOperator: true, publicUrl })
}

const KEPT_MS = 30 * 86_400_000

/** After a month nobody is told any more why their link does not work. */
export const forgetLinks = (db: Db, now: Date) => pruneLinks(db, new Date(now.getTime() - KEPT_MS))
