import { now as clock } from '../../platform/clock.ts'
import { randomToken } from '../../platform/ids.ts'
import { type Db, execute, query } from '../../platform/postgres.ts'
import { sha256 } from '../../platform/secrets.ts'
import { notFound } from '../../web/errors.ts'
import { CLAIM_HOURS } from '../bootstrap/actions.ts'

/** A new link by which a user sets a password, instead of those made before. Throws 404 for an unknown e-mail. */
export async function newClaimLink(db: Db, email: string, publicUrl: string): Promise<string> {
  const claim = randomToken(32)
  const now = clock()
  await db.transaction(async tx => {
    const [user] = await query<{ id: string }>(tx, 'SELECT id FROM users WHERE email = ? FOR UPDATE', [
      email.toLowerCase(),
    ])
    if (!user) throw notFound('user')
    await execute(tx, 'DELETE FROM claim_links WHERE user_id = ?', [user.id])
    await execute(
      tx,
      `INSERT INTO claim_links (token_hash, user_id, expires_at, created_at) VALUES (:hash, :userId, :expiresAt, :now)`,
      { hash: sha256(claim), userId: user.id, expiresAt: new Date(now.getTime() + CLAIM_HOURS * 3_600_000), now },
    )
  })
  return `${publicUrl}/claim/${claim}`
}
