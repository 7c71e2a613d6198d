import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { StartError } from '../start/settings.ts'
import { answerMailPage } from './pages.ts'
import { readMail } from './read-mail.ts'
import type { StoredMail } from './stored-mail.ts'

export type MailSink = {
  /** the SMTP server for the control plane */
  smtpUrl: string
  /** the page that shows the mail; contains a secret that is new at each start */
  pageUrl: string
  stop(): Promise<void>
}

/** Older mail is removed. */
const MAX_MAILS = 200
const MAX_MAIL_BYTES = 2 * 1024 * 1024
/** The answer to the sender of a mail. It is shown with the result of a test, and in the log of deliveries. */
const REPLY = 'shown on the mail page of this machine, whose address npm start has printed; it is not sent on'

/**
 * A mail server that does not forward mail: it shows received mail on a local page and prints one line per mail. Both ports
 * are on loopback. Throws a StartError when the package smtp-server is missing.
 */
export async function startMailSink(pagePort: number, print: (line: string) => void): Promise<MailSink> {
  const { SMTPServer } = await import('smtp-server').catch(() => {
    throw new StartError('The package smtp-server is missing; run npm install, or set SMTP_URL to a mail server.')
  })
  const mails: StoredMail[] = []
  let count = 0
  const keep = async (bytes: Buffer) => {
    const read = await readMail(bytes)
    count++
    const mail = { ...read, number: count, receivedAt: new Date() }
    mails.unshift(mail)
    mails.length = Math.min(mails.length, MAX_MAILS)
    const { from = '?', to = '?', subject = '?' } = mail.headers
    print(`  mail  ${from} to ${to}: ${subject}`)
  }

  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    size: MAX_MAIL_BYTES,
    onData(stream, _session, done) {
      buffer(stream)
        .then(keep)
        .then(() => done(null, REPLY), done)
    },
  })
  smtp.on('error', () => {})
  await new Promise<void>(resolve => smtp.listen(0, '127.0.0.1', resolve))
  const secret = randomBytes(16).toString('hex')
  const page = createServer((request, response) =>
    answerMailPage(request, response, mails, { port: getPort(page), secret }),
  )
  await new Promise<void>(resolve => page.listen(pagePort, '127.0.0.1', resolve))
  return {
    smtpUrl: `smtp://127.0.0.1:${getPort(smtp.server)}?ignoreTLS=true`,
    pageUrl: `http://localhost:${getPort(page)}/${secret}`,
    async stop() {
      await Promise.all([new Promise<void>(resolve => smtp.close(() => resolve())), closeServer(page)])
    },
  }
}

const getPort = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port

const closeServer = (server: Server) =>
  new Promise<void>(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
