import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { StartError } from '../settings.ts'
import { answer } from './pages.ts'
import { type ReadMail, readMail } from './read-mail.ts'

export type KeptMail = ReadMail & { number: number; receivedAt: Date }

export type MailSink = {
  /** where the control plane sends mail */
  smtpUrl: string
  /** where a person reads it; holds a secret of this start */
  pageUrl: string
  stop(): Promise<void>
}

/** Older mail is forgotten. */
const KEPT = 200
const SIZE_LIMIT = 2 * 1024 * 1024

/**
 * A mail server that sends nothing on: it shows what it was given at a page of this machine, and tells `say` of each
 * mail in a line. Both of its ports are on loopback. Throws a StartError when the package for it is missing.
 */
export async function startMailSink(pagePort: number, say: (line: string) => void): Promise<MailSink> {
  const { SMTPServer } = await import('smtp-server').catch(() => {
    throw new StartError('The package smtp-server is missing; run npm install, or set SMTP_URL to a mail server.')
  })
  const mails: KeptMail[] = []
  let count = 0
  const keep = async (bytes: Buffer) => {
    const read = await readMail(bytes)
    count++
    const mail = { ...read, number: count, receivedAt: new Date() }
    mails.unshift(mail)
    mails.length = Math.min(mails.length, KEPT)
    const { from = '?', to = '?', subject = '?' } = mail.headers
    say(`  mail  ${from} to ${to}: ${subject}`)
  }

  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    size: SIZE_LIMIT,
    onData(stream, _session, done) {
      buffer(stream)
        .then(keep)
        .then(() => done(), done)
    },
  })
  smtp.on('error', () => {})
  await new Promise<void>(resolve => smtp.listen(0, '127.0.0.1', resolve))
  const secret = randomBytes(16).toString('hex')
  const page = createServer((request, response) => answer(request, response, mails, { port: portOf(page), secret }))
  await new Promise<void>(resolve => page.listen(pagePort, '127.0.0.1', resolve))
  return {
    smtpUrl: `smtp://127.0.0.1:${portOf(smtp.server)}?ignoreTLS=true`,
    pageUrl: `http://localhost:${portOf(page)}/${secret}`,
    async stop() {
      await Promise.all([new Promise<void>(resolve => smtp.close(() => resolve())), closed(page)])
    },
  }
}

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port

const closed = (server: Server) =>
  new Promise<void>(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
