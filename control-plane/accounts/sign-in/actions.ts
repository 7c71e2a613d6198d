import { now as clock } from '../../platform/clock.ts'
import type { Passwords } from '../../platform/passwords.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { type Secrets, sha256 } from '../../platform/secrets.ts'
import { holdFounded, suspendOthers } from '../access/actions.ts'
import type { Visitor } from '../bootstrap/network.ts'
import { post } from '../mails/actions.ts'
import { changedPassword } from '../mails/letter.ts'
import type { Dead, Purpose } from '../password-links/link.ts'
import { findLink, lockLink, spendLinks } from '../password-links/store.ts'
import { removeSessionsOf } from '../sessions/store.ts'
import { forgetAttempts, giveBackAttempt, takeAttempt } from './attempt-store.ts'
import { personHere, resetLimits, signInLimits } from './limits.ts'
import { normalizePassword, passwordProblem } from './password.ts'
import { beginSession } from './session-actions.ts'
import { type Account, findAccount, holdPassword, proveEmail, replacePassword, storePassword } from './store.ts'

export type SignInTools = { db: Db; secrets: Secrets; passwords: Passwords; publicUrl: string; sendsMail: boolean }

export type SignedIn = { token: string } | { refused: 'wrong' } | { refused: 'too many'; waitSeconds: number }

/** Opens a session for whoever knows the password. For an address that nobody has it takes as long, and says the same. */
export async function signIn(
  { db, passwords }: SignInTools,
  visitor: Visitor,
  form: { email: string; password: string },
): Promise<SignedIn> {
  const { network } = visitor
  const email = form.email.trim().toLowerCase()
  const [limits, at] = [signInLimits(email, network), clock()]
  const waitSeconds = await takeAttempt(db, limits, at)
  if (waitSeconds !== null) return { refused: 'too many', waitSeconds }
  const account = await findAccount(db, email)
  const isRight = await passwords.verify(account?.passwordHash ?? null, normalizePassword(form.password))
  if (!isRight || account === null) return { refused: 'wrong' }
  await forgetAttempts(db, personHere(email, network))
  await giveBackAttempt(db, limits, at)
  return db.transaction(async tx => {
    // it may have been changed while it was looked at, and no session outlives that
    if (!(await holdPassword(tx, account))) return { refused: 'wrong' as const }
    return { token: await beginSession(tx, account, visitor, 'signed_in') }
  })
}

/** Sends a link to whoever has the address. For nobody's the same is done here, and takes as long. False: too often. */
export async function askForReset(tools: SignInTools, { network }: Visitor, written: string): Promise<boolean> {
  const { db, secrets } = tools
  const email = written.trim().toLowerCase()
  if ((await takeAttempt(db, resetLimits(email, network), clock())) !== null) return false
  await db.transaction(tx => post(tx, secrets, { resetFor: email }))
  return true
}

export type PasswordSet = { token: string } | { dead: Dead } | { problem: string }

/** Sets a password by a link, which is spent with it: every session ends, and a new one begins. */
export async function setPassword(
  tools: SignInTools,
  visitor: Visitor,
  { purpose, token, email, password }: { purpose: Purpose; token: string; email: string; password: string },
): Promise<PasswordSet> {
  const normal = normalizePassword(password)
  const problem = passwordProblem(normal, email)
  if (problem !== null) return { problem }
  const passwordHash = await tools.passwords.hash(normal)
  return tools.db.transaction(async tx => {
    const now = clock()
    // organizations are locked before people, as everywhere
    await holdFounded(tx, await findLink(tx, sha256(token), purpose, now))
    const owner = await lockLink(tx, sha256(token), purpose, now)
    if (typeof owner === 'string') return { dead: owner }
    await storePassword(tx, owner.userId, passwordHash, now)
    const founded = await holdFounded(tx, owner)
    if (owner.provesEmail) await proveEmail(tx, owner.userId, now)
    await suspendOthers(tx, { id: owner.userId, email: owner.email }, visitor.ip, founded)
    if (owner.isClaimed) await tellOfChange(tools, tx, owner.email)
    return { token: await beginAnew(tx, { id: owner.userId, email: owner.email }, visitor) }
  })
}

export type PasswordChanged = { token: string } | { problem: string; field: 'old' | 'new' }

/** Changes the password of somebody who is signed in and knows the one before. */
export async function changePassword(
  tools: SignInTools,
  visitor: Visitor,
  { email, old, password }: { email: string; old: string; password: string },
): Promise<PasswordChanged> {
  const { db, passwords } = tools
  const normal = normalizePassword(password)
  const problem = passwordProblem(normal, email)
  if (problem !== null) return { problem, field: 'new' }
  const [limits, at] = [signInLimits(email, visitor.network), clock()]
  const waitSeconds = await takeAttempt(db, limits, at)
  if (waitSeconds !== null) return { problem: tooMany(waitSeconds), field: 'old' }
  const account = await findAccount(db, email)
  const isRight = await passwords.verify(account?.passwordHash ?? null, normalizePassword(old))
  if (!isRight || account === null) return { problem: 'This is not your password.', field: 'old' }
  await giveBackAttempt(db, limits, at)
  const passwordHash = await passwords.hash(normal)
  return db.transaction(async tx => {
    if (!(await replacePassword(tx, account, passwordHash, clock()))) {
      return { problem: 'Your password was changed meanwhile.', field: 'old' as const }
    }
    await tellOfChange(tools, tx, account.email)
    return { token: await beginAnew(tx, account, visitor) }
  })
}

/** Whoever reads that mail hears of it, however it came about. */
async function tellOfChange({ secrets, publicUrl, sendsMail }: SignInTools, tx: Tx, email: string): Promise<void> {
  if (sendsMail) await post(tx, secrets, changedPassword(email, `${publicUrl}/forgot-password`))
}

/** Nobody who knew the password before, or holds a link, is in any more, and guesses at it count no more. */
async function beginAnew(tx: Tx, account: Pick<Account, 'id' | 'email'>, visitor: Visitor): Promise<string> {
  await spendLinks(tx, account.id, clock())
  await removeSessionsOf(tx, account.id)
  await forgetAttempts(tx, personHere(account.email, visitor.network))
  return beginSession(tx, account, visitor, 'password_changed')
}

export function tooMany(waitSeconds: number): string {
  const minutes = Math.ceil(waitSeconds / 60)
  return `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
}
