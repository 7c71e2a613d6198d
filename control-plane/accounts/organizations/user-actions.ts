import { type Db, query } from '../../platform/postgres.ts'
import { notFound } from '../../web/errors.ts'
import { recordAct } from '../audit/actions.ts'
import { dismissIn } from '../members/actions.ts'
import { makeOnlyLink } from '../password-links/actions.ts'
import { organizationsOf } from '../sessions/store.ts'
import { existingOrganization } from './actions.ts'

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

/** Ends a membership, also of a founder whose address is not proven. Answers the address; throws 404, and 409 for the last admin. */
export function removeUser(db: Db, organizationId: string, email: string): Promise<string> {
  return db.transaction(async tx => {
    await existingOrganization(tx, organizationId)
    const sql = 'SELECT id, email FROM users WHERE email = ?'
    const [user] = await query<{ id: string; email: string }>(tx, sql, [email.toLowerCase()])
    if (!user) throw notFound('user')
    await dismissIn(tx, organizationId, user.id)
    return user.email
  })
}
