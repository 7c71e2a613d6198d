import { type Db, query } from '../../platform/postgres.ts'
import { notFound } from '../../web/errors.ts'
import { makeLink } from '../password-links/actions.ts'

/** A new link by which a user sets a password, instead of those made before. Throws 404 for an unknown e-mail. */
export function newClaimLink(db: Db, email: string, publicUrl: string): Promise<string> {
  return db.transaction(async tx => {
    const [user] = await query<{ id: string }>(tx, 'SELECT id FROM users WHERE email = ? FOR UPDATE', [
      email.toLowerCase(),
    ])
    if (!user) throw notFound('user')
    return makeLink(tx, user.id, 'claim', publicUrl)
  })
}
