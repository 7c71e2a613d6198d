import type { Log } from '../../../shared/log.ts'
import { now as clock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { makeLink } from '../password-links/actions.ts'
import { findAccount } from '../sign-in/store.ts'
import { forgottenPassword, type Letter, letterHtml, letterText, type Posted } from './letter.ts'
import { claimMails, type DueMail, insertMail, openLetter, putOffMail, removeMail, sealLetter } from './store.ts'

const AT_ONCE = 10
const SEND_TIMEOUT_MS = 20_000
/** Longer than a round can take: after a crash somebody else sends again. */
const LEASE_MS = 5 * 60_000
const MOST_ATTEMPTS = 8
const FIRST_WAIT_MS = 30_000

/** Posts a letter, or a wish for one: it is sent once what made it commits. */
export async function post(tx: Tx, secrets: Secrets, posted: Posted): Promise<void> {
  const id = newId()
  await insertMail(tx, { id, letter: sealLetter(posted, id, secrets), now: clock() })
  await tx.raw('NOTIFY account_mails')
}

export type PostTools = {
  db: Db
  secrets: Secrets
  mailer: Mailer
  log: Log
  publicUrl: string
  /** what became of an attempt: sent, put off, lost, or there was nobody to write to */
  count(outcome: 'sent' | 'put off' | 'lost' | 'dropped'): void
}

/** Sends some of what is due. True: there may be more. */
export async function sendDueMails(tools: PostTools): Promise<boolean> {
  const now = clock()
  const due = await claimMails(tools.db, { limit: AT_ONCE, now, until: new Date(now.getTime() + LEASE_MS) })
  await Promise.all(due.map(mail => sendMail(tools, mail)))
  return due.length === AT_ONCE
}

/** A refusal ends it, our mail server's trouble and our own is waited out: half a minute, doubled each time, for about an hour. */
async function sendMail(tools: PostTools, mail: DueMail): Promise<void> {
  const { db, log, count } = tools
  const handed = await handOver(tools, mail).catch(error => {
    log.error({ err: error, mailId: mail.id }, 'a mail about an account could not be written')
    return 'put off' as const
  })
  if (handed === 'put off' && mail.attempts < MOST_ATTEMPTS) {
    count('put off')
    const waitMs = FIRST_WAIT_MS * 2 ** (mail.attempts - 1)
    return void (await putOffMail(db, mail.id, new Date(clock().getTime() + waitMs)))
  }
  const outcome = handed === 'put off' || handed === 'refused' ? 'lost' : handed
  if (outcome === 'lost')
    log.error({ event: 'account_mail_lost', mailId: mail.id }, 'a mail about an account was not taken')
  count(outcome)
  await removeMail(db, mail.id)
}

async function handOver(tools: PostTools, mail: DueMail): Promise<'sent' | 'put off' | 'refused' | 'dropped'> {
  const { mailer, publicUrl } = tools
  const letter = await letterOf(tools, openLetter(mail.letter, mail.id, tools.secrets))
  if (letter === null) return 'dropped'
  const content = {
    to: [letter.to],
    subject: letter.subject,
    messageId: `<${mail.id}@${new URL(publicUrl).hostname}>`,
    references: [],
    date: mail.createdAt.toISOString(),
    text: letterText(letter),
    html: letterHtml(letter),
  }
  const { error, code } = await mailer.send(content, SEND_TIMEOUT_MS)
  if (error === null) return 'sent'
  return code !== null && code >= 500 ? 'refused' : 'put off'
}

/** Only here it is looked up who wants a reset, so that whoever asks cannot tell by the time whether there is an account. */
async function letterOf({ db, publicUrl }: PostTools, posted: Posted): Promise<Letter | null> {
  if (!('resetFor' in posted)) return posted
  const account = await findAccount(db, posted.resetFor)
  if (account === null) return null
  const url = await db.transaction(tx => makeLink(tx, account.id, { purpose: 'reset', provesEmail: true, publicUrl }))
  return forgottenPassword(account.email, url)
}
