import type { Log } from '../../../../shared/process/log.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../../foundation/platform/time/clock.ts'
import { createPasswordLink } from '../../sign-in/password-links/actions.ts'
import { findAccount } from '../../sign-in/store.ts'
import {
  type AccountEmail,
  buildPasswordResetEmail,
  type QueuedEmail,
  renderEmailHtml,
  renderEmailText,
} from './account-email.tsx'
import { claimMails, type DueMail, decryptMail, encryptMail, insertMail, postponeMail, removeMail } from './store.ts'

const BATCH_SIZE = 10
const SEND_TIMEOUT_MS = 20_000
/** Longer than a round can take. After a crash another process sends the email again. */
const LEASE_MS = 5 * 60_000
const MAX_ATTEMPTS = 8
const INITIAL_BACKOFF_MS = 30_000

/** Queues an account email, or a reset request, in the transaction of its cause. */
export async function enqueueMail(tx: Tx, secrets: SecretCipher, email: QueuedEmail): Promise<void> {
  const id = newId()
  await insertMail(tx, { id, letter: encryptMail(email, id, secrets), now: clock() })
  await tx.raw('NOTIFY account_mails')
}

type MailSenderTools = {
  db: Db
  secrets: SecretCipher
  mailer: Mailer
  log: Log
  publicUrl: string
  /** the outcome of an attempt; `dropped`: the address has no account */
  count(outcome: 'sent' | 'deferred' | 'lost' | 'dropped'): void
}

/** Sends some of what is due. True: there may be more. */
export async function sendDueMails(tools: MailSenderTools): Promise<boolean> {
  const due = await claimMails(tools.db, { now: clock(), leaseMs: LEASE_MS, limit: BATCH_SIZE })
  await Promise.all(due.map(mail => sendMail(tools, mail)))
  return due.length === BATCH_SIZE
}

/**
 * Sends one email. A refusal is final. After a temporary failure of the mail server or of this process it is deferred: 30 s,
 * doubled each time, for about an hour.
 */
async function sendMail(tools: MailSenderTools, mail: DueMail): Promise<void> {
  const { db, log, count } = tools
  const result = await deliverMail(tools, mail).catch(error => {
    log.error({ err: error, mailId: mail.id }, 'an account email could not be prepared')
    return 'deferred' as const
  })
  if (result === 'deferred' && mail.attempts < MAX_ATTEMPTS) {
    count('deferred')
    const waitMs = INITIAL_BACKOFF_MS * 2 ** (mail.attempts - 1)
    return void (await postponeMail(db, mail.id, new Date(clock().getTime() + waitMs)))
  }
  const outcome = result === 'deferred' || result === 'refused' ? 'lost' : result
  if (outcome === 'lost') log.error({ event: 'account_mail_lost', mailId: mail.id }, 'an account email was lost')
  count(outcome)
  await removeMail(db, mail.id)
}

async function deliverMail(
  tools: MailSenderTools,
  mail: DueMail,
): Promise<'sent' | 'deferred' | 'refused' | 'dropped'> {
  const { mailer, publicUrl } = tools
  const email = await resolveEmail(tools, decryptMail(mail.letter, mail.id, tools.secrets))
  if (email === null) return 'dropped'
  const content = {
    to: [email.to],
    subject: email.subject,
    messageId: `<${mail.id}@${new URL(publicUrl).hostname}>`,
    references: [],
    date: mail.createdAt.toISOString(),
    text: renderEmailText(email),
    html: renderEmailHtml(email),
  }
  const result = await mailer.send(content, SEND_TIMEOUT_MS)
  if (result === null) return 'deferred'
  if (result.error === null) return 'sent'
  return !result.isServerFault && result.code !== null && result.code >= 500 ? 'refused' : 'deferred'
}

/**
 * Looks up the account of a reset request only now, so that the time of the request's answer does not reveal whether the address
 * has an account. Returns null without an account.
 */
async function resolveEmail({ db, publicUrl }: MailSenderTools, email: QueuedEmail): Promise<AccountEmail | null> {
  if (!('resetFor' in email)) return email
  const account = await findAccount(db, email.resetFor)
  if (account === null) return null
  const url = await db.transaction(tx =>
    createPasswordLink(tx, account.id, { purpose: 'reset', provesEmail: true, publicUrl }),
  )
  return buildPasswordResetEmail(account.email, url)
}
