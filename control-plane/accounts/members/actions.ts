import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../foundation/platform/time/clock.ts'
import type { ApiCaller } from '../../foundation/web/auth/authentication.ts'
import { conflict, found, notFound, rateLimited, registrationClosed } from '../../foundation/web/server/errors.ts'
import { assertCallerWorks } from '../api-keys/actions.ts'
import { recordAudit } from '../audit/actions.ts'
import { reserveConfirmations } from '../email/confirmation/actions.ts'
import type { MailRules } from '../email/daily-limits/limits.ts'
import { buildInvitationEmail } from '../email/outbox/account-email.tsx'
import { enqueueMail } from '../email/outbox/actions.ts'
import { assertWithinLimit } from '../plans/actions.ts'
import type { InstallationLimits } from '../plans/plans.ts'
import { createUser } from '../registration/actions.ts'
import type { RegistrationMode } from '../registration/registration-mode.ts'
import { leaveOrganization } from '../sessions/store.ts'
import { buildInvitationLimits } from '../sign-in/attempt-limits.ts'
import { countAttempt } from '../sign-in/attempt-store.ts'
import { createPasswordLink } from '../sign-in/password-links/actions.ts'
import type { MemberRole } from './role.ts'
import {
  findMember,
  getOrganizationName,
  hasOtherAdmin,
  insertMember,
  isUnprovenFounder,
  type KnownUser,
  lockOrganization,
  lockUser,
  lockUserByEmail,
  type MemberRow,
  removeMember,
  removeUnusedUser,
  updateRole,
} from './store.ts'

/** `sendsMail`: a mail server is configured. */
export type InviteTools = {
  db: Db
  secrets: SecretCipher
  publicUrl: string
  sendsMail: boolean
  mailRules: MailRules
  limits?: InstallationLimits
  registration: RegistrationMode
}
type InvitedMember = {
  user_id: string
  email: string
  role: MemberRole
  is_new_account: boolean
  claim_url?: string
}

/**
 * Makes a person a member, with a new account if the address has none (docs/design/accounts.md#members). With a mail server
 * the person gets an email. Throws 402 above the plan's limit, 409 for a member, and 403 for a new account while registration
 * is closed.
 */
export function invite(
  tools: InviteTools,
  caller: Pick<ApiCaller, 'organizationId' | 'keyId' | 'actor'>,
  { email, name, role }: { email: string; name: string | null; role: MemberRole },
): Promise<InvitedMember> {
  const { publicUrl, sendsMail, registration } = tools
  const { organizationId } = caller
  return tools.db.transaction(async tx => {
    await assertWithinLimit(tx, organizationId, 'members', 1, tools.limits)
    await assertCallerWorks(tx, caller, 'admin')
    const created = await createUser(tx, { email, name, publicUrl, provesEmail: false, organizationId })
    // the rollback removes the new account
    if (created && registration === 'closed')
      throw registrationClosed(
        `${created.email} has no account, and only the operator of this installation can create accounts`,
      )
    const user = created
      ? { id: created.userId, email: created.email, isProven: false }
      : await lockUserByEmail(tx, email.toLowerCase())
    if (!user) throw conflict('this account is being deleted; try again')
    // the person who created the account may have chosen its password
    const awaitsProof = created === null && !user.isProven
    const isNew = await insertMember(tx, { organizationId, userId: user.id, role, awaitsProof, now: clock() })
    if (!isNew) throw conflict(`${user.email} is already a member`)
    if (sendsMail) await sendInvitation(tools, tx, organizationId, user, created !== null)
    const invited = { user_id: user.id, email: user.email, role, is_new_account: created !== null }
    return created ? { ...invited, claim_url: created.claimUrl } : invited
  })
}

/** Queues the invitation. Its link differs from the one that the inviter sees, so it proves the address. Throws 429 above the limit. */
async function sendInvitation(
  { secrets, publicUrl, mailRules }: InviteTools,
  tx: Tx,
  organizationId: string,
  { id, email, isProven }: KnownUser,
  isNew: boolean,
): Promise<void> {
  await reserveConfirmations(tx, mailRules, organizationId, [email.toLowerCase()], clock())
  const waitSeconds = await countAttempt(tx, buildInvitationLimits(email, organizationId), clock())
  if (waitSeconds !== null) throw rateLimited('too many invitations were sent; try again later', waitSeconds)
  const url = isProven
    ? `${publicUrl}/sign-in`
    : await createPasswordLink(tx, id, { purpose: 'claim', provesEmail: true, organizationId, publicUrl })
  const account = isNew ? 'new' : isProven ? 'proven' : 'unproven'
  await enqueueMail(
    tx,
    secrets,
    buildInvitationEmail(email, await getOrganizationName(tx, organizationId), { url, account }),
  )
}

/** Throws 404, and 409 for the last admin and for a founder whose address is not proven. */
export function changeRole(db: Db, organizationId: string, userId: string, role: MemberRole): Promise<MemberRow> {
  return db.transaction(async tx => {
    await assertAdminRemains(tx, organizationId, userId, role)
    if (role !== 'admin') await assertNoUnprovenFounder(tx, organizationId, userId)
    await updateRole(tx, { organizationId, userId, role })
    return (await findMember(tx, organizationId, userId))!
  })
}

/** Ends a membership and the user's access to the organization. Keys that the member created keep working. */
export function endMembership(db: Db, organizationId: string, userId: string): Promise<void> {
  return db.transaction(async tx => {
    await lockOrganization(tx, organizationId)
    if (isId(userId)) await assertNoUnprovenFounder(tx, organizationId, userId)
    await endMembershipInTransaction(tx, organizationId, userId)
  })
}

/** Ends a membership within a transaction. Also removes a founder whose address is not proven, for the operator. */
export async function endMembershipInTransaction(tx: Tx, organizationId: string, userId: string): Promise<void> {
  await assertAdminRemains(tx, organizationId, userId, null)
  await lockUser(tx, userId)
  await removeMember(tx, organizationId, userId)
  await leaveOrganization(tx, organizationId, userId)
  await removeUnusedUser(tx, userId)
}

async function assertAdminRemains(
  tx: Tx,
  organizationId: string,
  userId: string,
  role: MemberRole | null,
): Promise<void> {
  if (!isId(userId)) throw notFound('member')
  await lockOrganization(tx, organizationId)
  const member = found(await findMember(tx, organizationId, userId), 'member')
  const isLosing = member.role === 'admin' && role !== 'admin'
  if (isLosing && !(await hasOtherAdmin(tx, organizationId, userId))) {
    throw conflict('this is the last admin of the organization; make another member an admin first')
  }
}

/**
 * Otherwise the person who created the account could end the founder's access before the founder proves the address and reviews
 * who has access (docs/design/accounts.md#access-review).
 */
async function assertNoUnprovenFounder(tx: Tx, organizationId: string, userId: string): Promise<void> {
  if (!(await isUnprovenFounder(tx, organizationId, userId))) return
  throw conflict(
    'the address of this founder of the organization is not proven; the founder stays an admin until they set a password by a link from /forgot-password, or the operator of this installation removes them',
  )
}

/**
 * Creates a new claim link for a member without a password. Throws 404, and 409 for an account that was created elsewhere: the
 * holder of the link controls the account.
 */
export function renewClaimLink(db: Db, organizationId: string, userId: string, publicUrl: string): Promise<string> {
  return db.transaction(async tx => {
    if (!isId(userId)) throw notFound('member')
    await lockUser(tx, userId)
    const member = found(await findMember(tx, organizationId, userId), 'member')
    if (member.is_claimed)
      throw conflict(`${member.email} has already set a password; they can request a new one at /forgot-password`)
    if (member.awaits_proof) {
      throw conflict(
        `the account of ${member.email} was created elsewhere; only they can request a new link, at /forgot-password`,
      )
    }
    const record = { resource: 'member', resourceId: member.id, resourceName: member.email }
    await recordAudit(tx, { action: 'claim_link_made', ...record })
    return createPasswordLink(tx, member.id, { purpose: 'claim', provesEmail: false, organizationId, publicUrl })
  })
}
