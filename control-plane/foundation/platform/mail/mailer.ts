import MailComposer from 'nodemailer/lib/mail-composer'
import type SmtpConnection from 'nodemailer/lib/smtp-connection'
import {
  createDeadline,
  createEgress,
  DeadlineExceededError,
  type DeadlineSignal,
} from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { monotonicMs } from '../time/clock.ts'
import { encodeHeaderText } from './encoded-words.ts'
import { CONNECTION_WAIT_MS, createSmtpPool, type SmtpPool } from './smtp-pool.ts'
import { parseSmtpUrl } from './smtp-url.ts'

/** Message ids are in angle brackets; `date` is ISO 8601. */
export type Mail = {
  to: string[]
  subject: string
  messageId: string
  references: string[]
  date: string
  /** where a POST ends the subscription (RFC 8058) */
  unsubscribeUrl?: string
  text: string
  html: string
}

/**
 * The outcome of a mail: `code` and `line` are the server's reply to it; they are null without a reply, and `error` gives the
 * reason. When the server refuses the password, only `code` is null.
 */
export type MailResult = {
  code: number | null
  line: string | null
  error: string | null
  durationMs: number
  /** the fault is the mail server's, not a recipient's, and the mail was not accepted: it is repeated without a count */
  isServerFault?: boolean
}

export type Mailer = {
  /**
   * Sends one mail, under one deadline that begins when a connection is available. Never rejects. Null: all connections
   * stayed busy, and nothing was sent; try again.
   */
  send(mail: Mail, timeoutMs: number): Promise<MailResult | null>
  close(): void
}

/**
 * Sends through the server of SMTP_URL. The operator trusts it, so the egress guard allows every address for it. Throws when
 * `smtpUrl` is not valid, which config.ts checks before. `waitMs`: how long a mail waits for a connection. See docs/design/storage.md#mail.
 */
export function createMailer(smtpUrl: string, from: string, waitMs = CONNECTION_WAIT_MS): Mailer {
  const server = parseSmtpUrl(smtpUrl)
  if (server === null) throw new TypeError('SMTP_URL is not a URL of a mail server')
  const egress: Egress = createEgress({ allow: ['0.0.0.0/0', '::/0'] })
  const connections = createSmtpPool(server, egress, waitMs)
  return {
    close: connections.close,
    async send(mail, timeoutMs) {
      const leave = await connections.reserve()
      if (leave === null) return null
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
  const connection = await pool.acquire(signal).catch(error => {
    throw new NoConnection(error)
  })
  const disconnect = () => connection.close()
  signal.addEventListener('abort', disconnect)
  try {
    const { response, rejectedErrors } = await sendEnvelope(connection, { from: sender, to: mail.to }, bytes)
    pool.release(connection)
    const refused = (rejectedErrors ?? []).map(error => `${error.recipient ?? 'a recipient'} (${error.response ?? ''})`)
    return {
      code: Number(response.slice(0, 3)),
      line: response,
      error: refused.length === 0 ? null : `rejected for ${refused.join(', ')}`,
    }
  } catch (error) {
    connection.close()
    throw error
  } finally {
    signal.removeEventListener('abort', disconnect)
  }
}

/** The same mail always has the same bytes. */
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
    // so that no automatic reply is sent
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

/** The library does not encode a text that looks like an encoded word, and mail programs would decode it. */
const buildSubjectHeader = (subject: string) => ({
  Subject: subject.includes('=?') ? { prepared: true, foldLines: true, value: encodeHeaderText(subject) } : subject,
})

function buildListHeaders(unsubscribeUrl: string | undefined): Record<string, string> {
  if (unsubscribeUrl === undefined) return {}
  return { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** `cause`: why no connection was opened. */
class NoConnection extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause })
  }
}

type NodemailerError = { code?: string; command?: string; responseCode?: number; response?: string; message: string }
type Envelope = { from: string | false | undefined; to: string[] }
type SmtpSendInfo = Parameters<Parameters<SmtpConnection['send']>[2]>[1]

function sendEnvelope(
  connection: SmtpConnection,
  envelope: Envelope,
  bytes: Buffer,
): Promise<NonNullable<SmtpSendInfo>> {
  return new Promise((resolve, reject) => {
    // without a listener, an error between two replies would end the process
    connection.once('error', reject)
    // a turn later, because after a reply of 421 the library reports the end before the reply
    connection.once('end', () => setImmediate(reject, new Error('the mail server closed the connection')))
    connection.send(envelope, bytes, (error, sent) => {
      if (error || !sent) reject(error ?? new Error('the mail server did not reply'))
      else resolve(sent)
    })
  })
}

const PASSWORD_REFUSED = 'the mail server refused the user or password of SMTP_URL'

/** nodemailer's errors contain the server's reply, if there was one. */
function toFailure(error: unknown, signal: DeadlineSignal, durationMs: number): MailResult {
  const isUnconnected = error instanceof NoConnection
  const { code, command, responseCode, response, message } = (isUnconnected ? error.cause : error) as NodemailerError
  const fail = (reason: string, isServerFault: boolean, reply: Partial<MailResult> = {}): MailResult => ({
    code: null,
    line: null,
    error: reason,
    durationMs: Math.round(durationMs),
    ...reply,
    ...(isServerFault && { isServerFault }),
  })
  if (signal.reason instanceof DeadlineExceededError)
    return fail('timed out while talking to the mail server', isUnconnected)
  if (!responseCode || !response) return fail(`no connection to the mail server: ${message}`, isUnconnected)
  // a fault of the configuration: without a code, it does not look like a refusal of the mail
  if (code === 'EAUTH') return fail(PASSWORD_REFUSED, isUnconnected, { line: response })
  const verb = responseCode >= 500 ? 'refused' : 'deferred'
  const reply = { code: responseCode, line: response }
  if (isUnconnected) return fail(`the mail server ${verb} the connection`, true, reply)
  if (responseCode === SERVICE_CLOSING) return fail('the mail server ended the connection', true, reply)
  if (command === 'MAIL FROM') return fail(`the mail server ${verb} the sender of MAIL_FROM`, true, reply)
  return fail(`the mail server ${verb} the mail`, false, reply)
}

/** RFC 5321, 3.8: the reply to any command of a server that must shut down; it does not accept the mail. */
const SERVICE_CLOSING = 421
