import { type Db, query } from '../../platform/postgres.ts'
import { notFound } from '../../web/errors.ts'
import { recordAct } from '../audit/actions.ts'
import { makeOnlyLink } from '../password-links/actions.ts'
import { organizationsOf } from '../sessions/store.ts'

/** A new link by which a user sets a password, instead of those made before. Throws 404 for an unknown e-mail. */
export function newClaimLink(db: Db, email: string, publicUrl: string): Promise<string> {
  return db.transaction(async tx => {
    const sql = 'SELECT id, email FROM users WHERE email = ? FOR UPDATE'
    const [user] = await query<{ id: string; email: string }>(tx, sql, [email.toLowerCase()])
    if (!user) throw notFound('user')
    const whose = { resource: 'member', resourceId: user.id, resourceName: user.email }
    for (const { id: organizationId } of await organizationsOf(tx, user.id)) {
      await recordAct(tx, { action: 'claim_link_made', ...whose, organizationId })
    }
    return makeOnlyLink(tx, user.id, publicUrl)
  })
}
