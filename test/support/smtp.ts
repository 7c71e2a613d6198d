import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type ReadMail, readMail } from '../../tools/mail/read-mail.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

export type ReceivedMail = ReadMail & { from: string; to: string[]; raw: string; user: string; isTls: boolean }

export type Smtp = {
  /** `smtp://127.0.0.1:…` */
  url: string
  port: number
  /** received emails in order of arrival */
  mails: ReceivedMail[]
  /** the number of opened connections */
  connections(): number
  /** closes open connections without a reply; resolves when they are closed */
  hangUp(): Promise<void>
  /**
   * sets the replies that refuse the next emails, such as `451 4.3.0 Try later`; `hang` takes one and never replies. Later
   * emails are accepted
   */
  replyWith(...replies: string[]): void
  waitFor(count: number): Promise<ReceivedMail[]>
}

/** A mail server on a free port of 127.0.0.1. Recipients whose address contains `unknown` are refused with 550. */
export async function startSmtp(t: Teardown, options: SMTPServerOptions = {}): Promise<Smtp> {
  const mails: ReceivedMail[] = []
  const script: string[] = []
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect(_session, done) {
      connections++
      done()
    },
    onRcptTo({ address }, _session, done) {
      done(address.includes('unknown') ? refusal('550 5.1.1 No such user here') : null)
    },
    onData(stream, { envelope, user, secure }, done) {
      const take = async (bytes: Buffer) => {
        const reply = script.shift()
        if (reply !== undefined && reply !== 'hang') throw refusal(reply)
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const to = envelope.rcptTo.map(({ address }) => address)
        const raw = bytes.toString('utf8')
        mails.push({ ...(await readMail(bytes)), from, to, raw, user: String(user ?? ''), isTls: secure })
        if (reply === undefined) done()
      }
      buffer(stream).then(take).catch(done)
    },
    ...options,
  })
  server.on('error', () => {})
  const sockets = new Set<Socket>()
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    connections: () => connections,
    hangUp: async () => {
      const open = [...sockets]
      for (const socket of open) socket.destroy()
      await waitFor(() => open.every(socket => !sockets.has(socket)), { label: 'hanging up' })
    },
    replyWith: (...replies) => void script.push(...replies),
    waitFor: count => waitFor(() => (mails.length >= count ? mails : null), { label: `${count} mails` }),
  }
}

function refusal(reply: string): Error {
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })
}
