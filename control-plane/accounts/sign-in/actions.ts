import { type SecretCipher, sha256 } from '../../foundation/platform/crypto/encryption.ts'
import type { Passwords } from '../../foundation/platform/crypto/passwords.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../foundation/platform/time/clock.ts'
import { lockOrganizationsToReview, suspendOthers } from '../access-review/actions.ts'
import { buildPasswordChangedEmail } from '../email/outbox/account-email.tsx'
import { enqueueMail } from '../email/outbox/actions.ts'
import { markEntered } from '../members/store.ts'
import type { ClientInfo } from '../registration/client-info.ts'
import { startAuditedSession } from '../sessions/audited-actions.ts'
import { removeAllSessions } from '../sessions/store.ts'
import { buildChangeLimits, buildPersonSubject, buildResetLimits, buildSignInLimits } from './attempt-limits.ts'
import { type AttemptLimit, clearAttempts, countAttempt, refundAttempt } from './attempt-store.ts'
import { findPasswordProblem, normalizePassword } from './password.ts'
import type { LinkProblem, LinkPurpose } from './password-links/link.ts'
import { findLink, invalidateLinks, lockLink } from './password-links/store.ts'
import {
  findAccount,
  lockPassword,
  markEmailProven,
  replacePassword,
  storePassword,
  type UserAccount,
} from './store.ts'

export type SignInTools = { db: Db; secrets: SecretCipher; passwords: Passwords; publicUrl: string; sendsMail: boolean }

type SignInResult = { token: string } | { refused: 'wrong' } | { refused: 'too many'; waitSeconds: number }

/** Starts a session if the password is right. An unknown address takes the same time and gives the same answer. */
export async function signIn(
  tools: SignInTools,
  visitor: ClientInfo,
  form: { email: string; password: string },
): Promise<SignInResult> {
  const { db } = tools
  const { network } = visitor
  const email = form.email.trim().toLowerCase()
  const [limits, at] = [buildSignInLimits(email, network), clock()]
  const waitSeconds = await countAttempt(db, limits, at)
  if (waitSeconds !== null) return { refused: 'too many', waitSeconds }
  const account = await refundIfFailed(db, limits, at, () => findAccountByPassword(tools, email, form.password))
  if (account === null) return { refused: 'wrong' }
  await clearAttempts(db, buildPersonSubject(email, network))
  await refundAttempt(db, limits, at)
  return db.transaction(async tx => {
    // the password may have been changed since it was checked; no session may outlive that change
    if (!(await lockPassword(tx, account))) return { refused: 'wrong' as const }
    return { token: await startAuditedSession(tx, account, visitor, 'signed_in') }
  })
}

/** Returns null for a wrong password, and after the same time for an unknown address. */
async function findAccountByPassword(
  { db, passwords }: SignInTools,
  email: string,
  password: string,
): Promise<UserAccount | null> {
  const account = await findAccount(db, email)
  const isRight = await passwords.verify(account?.passwordHash ?? null, normalizePassword(password))
  return isRight ? account : null
}

/** Does the work of an attempt that was counted at `at`. If it throws (too many wait, the database failed), the attempt does not count. */
async function refundIfFailed<T>(db: Db, limits: AttemptLimit[], at: Date, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // the first error is the one to report
    await refundAttempt(db, limits, at).catch(() => {})
    throw error
  }
}

/** Queues a reset link, without looking up whether the address has an account. Returns false above the limit. */
export async function requestPasswordReset(
  tools: SignInTools,
  { network }: ClientInfo,
  address: string,
): Promise<boolean> {
  const { db, secrets } = tools
  const email = address.trim().toLowerCase()
  const [limits, at] = [buildResetLimits(email, network), clock()]
  if ((await countAttempt(db, limits, at)) !== null) return false
  await refundIfFailed(db, limits, at, () => db.transaction(tx => enqueueMail(tx, secrets, { resetFor: email })))
  return true
}

type SetPasswordResult = { token: string } | { invalid: LinkProblem } | { problem: string }

/**
 * Sets a password by a link.
 *
 * 1. Check the password and hash it, outside the transaction.
 * 2. Lock the organizations to review, then the link's owner.
 * 3. Store the password. If the link proves the address, mark it proven and suspend other people's access. If an organization
 *    sent the link, its owner has entered that organization.
 * 4. Invalidate the owner's links, end all sessions and start a new one.
 */
export async function setPassword(
  tools: SignInTools,
  visitor: ClientInfo,
  { purpose, token, email, password }: { purpose: LinkPurpose; token: string; email: string; password: string },
): Promise<SetPasswordResult> {
  const normal = normalizePassword(password)
  const problem = findPasswordProblem(normal, email)
  if (problem !== null) return { problem }
  const passwordHash = await tools.passwords.hash(normal)
  return tools.db.transaction(async tx => {
    const now = clock()
    // lock order: organizations before users
    await lockOrganizationsToReview(tx, await findLink(tx, sha256(token), purpose, now))
    const owner = await lockLink(tx, sha256(token), purpose, now)
    if (typeof owner === 'string') return { invalid: owner }
    await storePassword(tx, owner.userId, passwordHash, now)
    const founded = await lockOrganizationsToReview(tx, owner)
    if (owner.provesEmail) await markEmailProven(tx, owner.userId, now)
    const { userId, organizationId } = owner
    if (organizationId !== null) await markEntered(tx, { organizationId, userId }, now)
    await suspendOthers(tx, { id: owner.userId, email: owner.email }, visitor.ip, founded)
    if (owner.isClaimed) await sendPasswordChangedEmail(tools, tx, owner.email)
    return { token: await restartSession(tx, { id: owner.userId, email: owner.email }, visitor) }
  })
}

type ChangePasswordResult = { token: string } | { problem: string; field: 'old' | 'new' }

/** Changes the password of a signed-in user who knows the current one. */
export async function changePassword(
  tools: SignInTools,
  visitor: ClientInfo,
  { email, old, password }: { email: string; old: string; password: string },
): Promise<ChangePasswordResult> {
  const { db, passwords } = tools
  const normal = normalizePassword(password)
  const problem = findPasswordProblem(normal, email)
  if (problem !== null) return { problem, field: 'new' }
  const [limits, at] = [buildSignInLimits(email, visitor.network), clock()]
  const waitSeconds = await countAttempt(db, limits, at)
  if (waitSeconds !== null) return { problem: formatTooManyAttempts(waitSeconds), field: 'old' }
  const account = await refundIfFailed(db, limits, at, () => findAccountByPassword(tools, email, old))
  if (account === null) return { problem: 'The current password is wrong.', field: 'old' }
  await refundAttempt(db, limits, at)
  const changeLimits = buildChangeLimits(email)
  const changeWaitSeconds = await countAttempt(db, changeLimits, at)
  if (changeWaitSeconds !== null) return { problem: formatTooManyAttempts(changeWaitSeconds), field: 'new' }
  return refundIfFailed(db, changeLimits, at, async () => {
    const passwordHash = await passwords.hash(normal)
    return db.transaction(async tx => {
      if (!(await replacePassword(tx, account, passwordHash, clock()))) {
        return { problem: 'Your password was changed in the meantime.', field: 'old' as const }
      }
      await sendPasswordChangedEmail(tools, tx, account.email)
      return { token: await restartSession(tx, account, visitor) }
    })
  })
}

/** Notifies the owner of the address of the change. */
async function sendPasswordChangedEmail(
  { secrets, publicUrl, sendsMail }: SignInTools,
  tx: Tx,
  email: string,
): Promise<void> {
  if (sendsMail) await enqueueMail(tx, secrets, buildPasswordChangedEmail(email, `${publicUrl}/forgot-password`))
}

/** Invalidates links, ends all sessions, resets the count of attempts, and starts a new session. */
async function restartSession(
  tx: Tx,
  account: Pick<UserAccount, 'id' | 'email'>,
  visitor: ClientInfo,
): Promise<string> {
  await invalidateLinks(tx, account.id, clock())
  await removeAllSessions(tx, account.id)
  await clearAttempts(tx, buildPersonSubject(account.email, visitor.network))
  return startAuditedSession(tx, account, visitor, 'password_changed')
}

export function formatTooManyAttempts(waitSeconds: number): string {
  const minutes = Math.ceil(waitSeconds / 60)
  return `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
}
