import { type Db, query } from '../../foundation/platform/postgres/client.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { recordAudit } from '../audit/actions.ts'
import { endMembershipInTransaction } from '../members/actions.ts'
import { listUserOrganizations } from '../sessions/store.ts'
import { replacePasswordLinks } from '../sign-in/password-links/actions.ts'
import { getOrganization } from './actions.ts'

/** Creates a link that sets a user's password and invalidates older ones. Throws 404 for an unknown address. */
export function createClaimLink(db: Db, email: string, publicUrl: string): Promise<string> {
  return db.transaction(async tx => {
    const sql = 'SELECT id, email FROM users WHERE email = ? FOR UPDATE'
    const [row] = await query<{ id: string; email: string }>(tx, sql, [email.toLowerCase()])
    const user = found(row, 'user')
    const record = { resource: 'member', resourceId: user.id, resourceName: user.email }
    for (const { id: organizationId } of await listUserOrganizations(tx, user.id)) {
      await recordAudit(tx, { action: 'claim_link_made', ...record, organizationId })
    }
    return replacePasswordLinks(tx, user.id, publicUrl)
  })
}

/** Ends a membership, also of a founder whose address is not proven. Returns the address. Throws 404, and 409 for the last admin. */
export function removeUser(db: Db, organizationId: string, email: string): Promise<string> {
  return db.transaction(async tx => {
    await getOrganization(tx, organizationId)
    const sql = 'SELECT id, email FROM users WHERE email = ?'
    const [row] = await query<{ id: string; email: string }>(tx, sql, [email.toLowerCase()])
    const user = found(row, 'user')
    await endMembershipInTransaction(tx, organizationId, user.id)
    return user.email
  })
}
