import MailComposer from 'nodemailer/lib/mail-composer'
import type SmtpConnection from 'nodemailer/lib/smtp-connection'
import { createDeadline, createEgress, DeadlineExceeded, type DeadlineSignal } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { monotonicMs } from '../time/clock.ts'
import { encodeHeaderText } from './encoded-words.ts'
import { createSmtpPool, type SmtpPool } from './smtp-pool.ts'
import { parseSmtpUrl } from './smtp-url.ts'

/** Message ids are in angle brackets; `date` is ISO 8601. */
export type Mail = {
  to: string[]
  subject: string
  messageId: string
  references: string[]
  date: string
  /** where a POST ends the subscription (RFC 8058); left out where there is none */
  unsubscribeUrl?: string
  text: string
  html: string
}

/** What the mail server said: `code` and `line` are its reply, null where none came, and then `error` says why. */
export type MailResult = {
  code: number | null
  line: string | null
  error: string | null
  durationMs: number
}

export type Mailer = {
  /** Hands one mail to the mail server, under one deadline once there is a connection for it. Never rejects. */
  send(mail: Mail, timeoutMs: number): Promise<MailResult>
  close(): void
}

/**
 * Sends by the server of SMTP_URL. The operator trusts it, so it may stand in any range of addresses: the guard resolves
 * and connects, and lets through whatever it finds. Throws when `smtpUrl` is no such URL (config.ts refuses it before).
 */
export function createMailer(smtpUrl: string, from: string): Mailer {
  const server = parseSmtpUrl(smtpUrl)
  if (server === null) throw new TypeError('SMTP_URL is not a URL of a mail server')
  const anywhere: Egress = createEgress({ allow: ['0.0.0.0/0', '::/0'] })
  const connections = createSmtpPool(server, anywhere)
  return {
    close: connections.close,
    async send(mail, timeoutMs) {
      const leave = await connections.reserve()
      if (leave === null) return buildFailure('all connections to the mail server are busy', 0)
      const startedMs = monotonicMs()
      const deadline = createDeadline(timeoutMs)
      try {
        const answer = await sendComposed(mail, from, connections, deadline.signal)
        return { ...answer, durationMs: Math.round(monotonicMs() - startedMs) }
      } catch (error) {
        return toFailure(error, deadline.signal, monotonicMs() - startedMs)
      } finally {
        deadline.clear()
        leave()
      }
    },
  }
}

type MailReply = Omit<MailResult, 'durationMs'>

async function sendComposed(mail: Mail, from: string, pool: SmtpPool, signal: DeadlineSignal): Promise<MailReply> {
  const composed = compose(mail, from)
  const bytes = await composed.build()
  const sender = composed.getEnvelope().from
  const connection = await pool.acquire(signal)
  const hangUp = () => connection.close()
  signal.addEventListener('abort', hangUp)
  try {
    const { response, rejectedErrors } = await sendEnvelope(connection, { from: sender, to: mail.to }, bytes)
    pool.release(connection)
    const refused = (rejectedErrors ?? []).map(error => `${error.recipient ?? 'a recipient'} (${error.response ?? ''})`)
    return {
      code: Number(response.slice(0, 3)),
      line: response,
      error: refused.length === 0 ? null : `not taken for ${refused.join(', ')}`,
    }
  } catch (error) {
    connection.close()
    throw error
  } finally {
    signal.removeEventListener('abort', hangUp)
  }
}

/** The same mail makes the same bytes. */
function compose({ to, subject, messageId, references, date, unsubscribeUrl, text, html }: Mail, from: string) {
  return new MailComposer({
    from,
    to,
    messageId,
    inReplyTo: references.at(-1),
    references,
    date: new Date(date),
    text,
    html,
    // so that nobody's holiday notice answers
    headers: {
      ...buildSubjectHeader(subject),
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...buildListHeaders(unsubscribeUrl),
    },
    baseBoundary: messageId.replace(/[^A-Za-z0-9]/g, ''),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
}

/** The library leaves a text alone that reads like an encoded word, and readers would decode it. */
const buildSubjectHeader = (subject: string) => ({
  Subject: subject.includes('=?') ? { prepared: true, foldLines: true, value: encodeHeaderText(subject) } : subject,
})

function buildListHeaders(unsubscribeUrl: string | undefined): Record<string, string> {
  if (unsubscribeUrl === undefined) return {}
  return { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

type NodemailerError = { code?: string; responseCode?: number; response?: string; message: string }
type Envelope = { from: string | false | undefined; to: string[] }
type SmtpSendInfo = Parameters<Parameters<SmtpConnection['send']>[2]>[1]

function sendEnvelope(
  connection: SmtpConnection,
  envelope: Envelope,
  bytes: Buffer,
): Promise<NonNullable<SmtpSendInfo>> {
  return new Promise((resolve, reject) => {
    // without a listener an error between two replies would end the process
    connection.once('error', reject)
    connection.once('end', () => reject(new Error('the mail server closed the connection')))
    connection.send(envelope, bytes, (error, sent) => {
      if (error || !sent) reject(error ?? new Error('the mail server said nothing'))
      else resolve(sent)
    })
  })
}

const buildFailure = (error: string, durationMs: number): MailResult => ({
  code: null,
  line: null,
  error,
  durationMs: Math.round(durationMs),
})

/** nodemailer's errors carry the server's reply where there was one. */
function toFailure(error: unknown, signal: DeadlineSignal, durationMs: number): MailResult {
  const { code, responseCode, response, message } = error as NodemailerError
  if (signal.reason instanceof DeadlineExceeded)
    return buildFailure('timed out while talking to the mail server', durationMs)
  if (!responseCode || !response) return buildFailure(`no connection to the mail server: ${message}`, durationMs)
  const refused = responseCode >= 500 ? 'the mail server refused the mail' : 'the mail server put the mail off'
  const sentence = code === 'EAUTH' ? 'the mail server refuses the user or password of SMTP_URL' : refused
  return { ...buildFailure(sentence, durationMs), code: responseCode, line: response }
}
