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
} from './account-email.ts'
import { claimMails, type DueMail, decryptMail, encryptMail, insertMail, postponeMail, removeMail } from './store.ts'

const BATCH_SIZE = 10
const SEND_TIMEOUT_MS = 20_000
/** Longer than a round can take: after a crash somebody else sends again. */
const LEASE_MS = 5 * 60_000
const MAX_ATTEMPTS = 8
const INITIAL_BACKOFF_MS = 30_000

/** Posts a letter, or a wish for one: it is sent once what made it commits. */
export async function enqueueMail(tx: Tx, secrets: SecretCipher, posted: QueuedEmail): Promise<void> {
  const id = newId()
  await insertMail(tx, { id, letter: encryptMail(posted, id, secrets), now: clock() })
  await tx.raw('NOTIFY account_mails')
}

export type MailSenderTools = {
  db: Db
  secrets: SecretCipher
  mailer: Mailer
  log: Log
  publicUrl: string
  /** what became of an attempt: sent, put off, lost, or there was nobody to write to */
  count(outcome: 'sent' | 'put off' | 'lost' | 'dropped'): void
}

/** Sends some of what is due. True: there may be more. */
export async function sendDueMails(tools: MailSenderTools): Promise<boolean> {
  const now = clock()
  const due = await claimMails(tools.db, { limit: BATCH_SIZE, now, until: new Date(now.getTime() + LEASE_MS) })
  await Promise.all(due.map(mail => sendMail(tools, mail)))
  return due.length === BATCH_SIZE
}

/** A refusal ends it, our mail server's trouble and our own is waited out: half a minute, doubled each time, for about an hour. */
async function sendMail(tools: MailSenderTools, mail: DueMail): Promise<void> {
  const { db, log, count } = tools
  const handed = await deliverMail(tools, mail).catch(error => {
    log.error({ err: error, mailId: mail.id }, 'a mail about an account could not be written')
    return 'put off' as const
  })
  if (handed === 'put off' && mail.attempts < MAX_ATTEMPTS) {
    count('put off')
    const waitMs = INITIAL_BACKOFF_MS * 2 ** (mail.attempts - 1)
    return void (await postponeMail(db, mail.id, new Date(clock().getTime() + waitMs)))
  }
  const outcome = handed === 'put off' || handed === 'refused' ? 'lost' : handed
  if (outcome === 'lost')
    log.error({ event: 'account_mail_lost', mailId: mail.id }, 'a mail about an account was not taken')
  count(outcome)
  await removeMail(db, mail.id)
}

async function deliverMail(tools: MailSenderTools, mail: DueMail): Promise<'sent' | 'put off' | 'refused' | 'dropped'> {
  const { mailer, publicUrl } = tools
  const letter = await resolveEmail(tools, decryptMail(mail.letter, mail.id, tools.secrets))
  if (letter === null) return 'dropped'
  const content = {
    to: [letter.to],
    subject: letter.subject,
    messageId: `<${mail.id}@${new URL(publicUrl).hostname}>`,
    references: [],
    date: mail.createdAt.toISOString(),
    text: renderEmailText(letter),
    html: renderEmailHtml(letter),
  }
  const { error, code } = await mailer.send(content, SEND_TIMEOUT_MS)
  if (error === null) return 'sent'
  return code !== null && code >= 500 ? 'refused' : 'put off'
}

/** Only here it is looked up who wants a reset, so that whoever asks cannot tell by the time whether there is an account. */
async function resolveEmail({ db, publicUrl }: MailSenderTools, posted: QueuedEmail): Promise<AccountEmail | null> {
  if (!('resetFor' in posted)) return posted
  const account = await findAccount(db, posted.resetFor)
  if (account === null) return null
  const url = await db.transaction(tx =>
    createPasswordLink(tx, account.id, { purpose: 'reset', provesEmail: true, publicUrl }),
  )
  return buildPasswordResetEmail(account.email, url)
}
