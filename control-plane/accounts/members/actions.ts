import { now as clock } from '../../platform/clock.ts'
import { isId } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { conflict, notFound } from '../../web/errors.ts'
import { assertWithinLimit } from '../actions.ts'
import { createUser } from '../bootstrap/actions.ts'
import { post } from '../mails/actions.ts'
import { invitation } from '../mails/letter.ts'
import { makeLink } from '../password-links/actions.ts'
import { leaveOrganization } from '../sessions/store.ts'
import type { Role } from './role.ts'
import {
  countMemberships,
  findMember,
  findUser,
  insertMember,
  lockRoles,
  type MemberRow,
  nameOfOrganization,
  removeMember,
  updateRole,
} from './store.ts'

/** `sendsMail`: a mail server is configured. */
export type InviteTools = { db: Db; secrets: Secrets; publicUrl: string; sendsMail: boolean }
export type Invited = { user_id: string; email: string; role: Role; is_new_account: boolean; claim_url?: string }

/**
 * Makes somebody a member at once, with a new account where there is none for the address (specification, "Agent
 * bootstrap"). Throws 402 over the plan's limit, 409 for a member. They are told by mail where there is a mail server.
 */
export function invite(
  { db, secrets, publicUrl, sendsMail }: InviteTools,
  organizationId: string,
  { email, name, role }: { email: string; name: string | null; role: Role },
): Promise<Invited> {
  return db.transaction(async tx => {
    const created = await createUser(tx, { email, name, publicUrl })
    const user = created ? { id: created.userId, email: created.email } : (await findUser(tx, email.toLowerCase()))!
    await assertWithinLimit(tx, organizationId, 'members', 1)
    const isNew = await insertMember(tx, { organizationId, userId: user.id, role, now: clock() })
    if (!isNew) throw conflict(`${user.email} is a member already`)
    if (sendsMail) {
      const organization = await nameOfOrganization(tx, organizationId)
      const link = { url: created?.claimUrl ?? `${publicUrl}/sign-in`, isNew: created !== null }
      await post(tx, secrets, invitation(user.email, organization, link))
    }
    const invited = { user_id: user.id, email: user.email, role, is_new_account: created !== null }
    return created ? { ...invited, claim_url: created.claimUrl } : invited
  })
}

/** Throws 404, and 409 for the last admin: nobody could make another. */
export function changeRole(db: Db, organizationId: string, userId: string, role: Role): Promise<MemberRow> {
  return db.transaction(async tx => {
    await assertReplaceable(tx, organizationId, userId, role)
    await updateRole(tx, { organizationId, userId, role })
    return (await findMember(tx, organizationId, userId))!
  })
}

/** Ends a membership and what is open in that organization's name. Keys that they made go on: machines use them. */
export function dismiss(db: Db, organizationId: string, userId: string): Promise<void> {
  return db.transaction(async tx => {
    await assertReplaceable(tx, organizationId, userId, null)
    await removeMember(tx, organizationId, userId)
    await leaveOrganization(tx, organizationId, userId)
  })
}

async function assertReplaceable(tx: Tx, organizationId: string, userId: string, role: Role | null): Promise<void> {
  if (!isId(userId)) throw notFound('member')
  const roles = await lockRoles(tx, organizationId)
  const before = roles.get(userId.toLowerCase())
  if (!before) throw notFound('member')
  const admins = [...roles.values()].filter(other => other === 'admin').length
  if (before === 'admin' && role !== 'admin' && admins === 1) {
    throw conflict('this is the last admin of the organization; make somebody else an admin first')
  }
}

/**
 * A new claim link for somebody who has not set a password yet. Throws 404, and 409 where the account is not this
 * organization's alone: whoever holds the link holds the account.
 */
export function renewClaimLink(db: Db, organizationId: string, userId: string, publicUrl: string): Promise<string> {
  return db.transaction(async tx => {
    const member = isId(userId) ? await findMember(tx, organizationId, userId) : null
    if (!member) throw notFound('member')
    if (member.is_claimed) throw conflict(`${member.email} has set a password; they can ask for a new one by mail`)
    if ((await countMemberships(tx, userId)) > 1) {
      throw conflict(`${member.email} is a member elsewhere too; only they can ask for a new link, by mail`)
    }
    return makeLink(tx, member.id, 'claim', publicUrl)
  })
}
