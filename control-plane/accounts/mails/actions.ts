import type { Log } from '../../../shared/log.ts'
import { now as clock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type Letter, letterHtml, letterText } from './letter.ts'
import { claimMails, type DueMail, insertMail, openLetter, putOffMail, removeMail, sealLetter } from './store.ts'

const AT_ONCE = 10
const SEND_TIMEOUT_MS = 20_000
/** Longer than a round can take: after a crash somebody else sends again. */
const LEASE_MS = 5 * 60_000
const MOST_ATTEMPTS = 8
const FIRST_WAIT_MS = 30_000

/** Posts a letter: it is sent once what made it commits. */
export async function post(tx: Tx, secrets: Secrets, letter: Letter): Promise<void> {
  const id = newId()
  await insertMail(tx, { id, letter: sealLetter(letter, id, secrets), now: clock() })
  await tx.raw('NOTIFY account_mails')
}

export type PostTools = { db: Db; secrets: Secrets; mailer: Mailer; log: Log; publicUrl: string }

/** Sends some of what is due. True: there may be more. */
export async function sendDueMails(tools: PostTools): Promise<boolean> {
  const now = clock()
  const due = await claimMails(tools.db, { limit: AT_ONCE, now, until: new Date(now.getTime() + LEASE_MS) })
  await Promise.all(due.map(mail => sendMail(tools, mail)))
  return due.length === AT_ONCE
}

/** A refusal ends it, our mail server's trouble is waited out: half a minute, doubled each time, for about an hour. */
async function sendMail({ db, secrets, mailer, log, publicUrl }: PostTools, mail: DueMail): Promise<void> {
  const letter = openLetter(mail.letter, mail.id, secrets)
  const answer = await mailer.send(
    {
      to: [letter.to],
      subject: letter.subject,
      messageId: `<${mail.id}@${new URL(publicUrl).hostname}>`,
      references: [],
      date: mail.createdAt.toISOString(),
      text: letterText(letter),
      html: letterHtml(letter),
    },
    SEND_TIMEOUT_MS,
  )
  if (answer.error === null) return void (await removeMail(db, mail.id))
  const isHopeless = answer.code !== null && answer.code >= 500
  if (!isHopeless && mail.attempts < MOST_ATTEMPTS) {
    const waitMs = FIRST_WAIT_MS * 2 ** (mail.attempts - 1)
    return void (await putOffMail(db, mail.id, new Date(clock().getTime() + waitMs)))
  }
  log.warn({ event: 'account_mail_lost', mailId: mail.id, code: answer.code }, 'a mail about an account was not taken')
  await removeMail(db, mail.id)
}
