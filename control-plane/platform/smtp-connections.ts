import SmtpConnection from 'nodemailer/lib/smtp-connection'
import { type Egress, openTcp, type Signal } from '../../shared/egress/index.ts'
import type { SmtpServer } from './smtp-server.ts'

/** What one process holds open at a mail server: few enough for any of them. */
const MOST_CONNECTIONS = 10

/** How long a mail waits for one of them; a delivery's lease is longer than this and the conversation together. */
const PATIENCE_MS = 15_000

/** A connection that nobody needs is given up; mail servers do so themselves after a while. */
const IDLE_MS = 5_000

export type SmtpConnections = {
  /** Waits for a place. The function that it answers gives the place back; null: none came free in time. */
  enter(): Promise<(() => void) | null>
  /** A connection that is signed in and fresh. Rejects with an EgressFailure or nodemailer's error. */
  take(signal: Signal): Promise<SmtpConnection>
  /** Keeps a connection for the next mail. */
  giveBack(connection: SmtpConnection): void
  close(): void
}

/** A small pool of connections to one mail server. */
export function createSmtpConnections(server: SmtpServer, egress: Egress): SmtpConnections {
  const idle = new Map<SmtpConnection, NodeJS.Timeout>()
  const waiting = new Set<() => void>()
  let taken = 0

  const forget = (connection: SmtpConnection) => {
    clearTimeout(idle.get(connection))
    idle.delete(connection)
  }
  const leave = () => {
    const [next] = waiting
    if (next) next()
    else taken--
  }
  return {
    enter() {
      if (taken < MOST_CONNECTIONS) {
        taken++
        return Promise.resolve(leave)
      }
      return new Promise(resolve => {
        const timer = setTimeout(() => {
          waiting.delete(enter)
          resolve(null)
        }, PATIENCE_MS)
        const enter = () => {
          clearTimeout(timer)
          waiting.delete(enter)
          resolve(leave)
        }
        waiting.add(enter)
      })
    },
    async take(signal) {
      for (const connection of idle.keys()) {
        forget(connection)
        if (await isAlive(connection, signal)) return connection
        connection.close()
      }
      return open(server, signal, egress)
    },
    giveBack(connection) {
      connection.removeAllListeners()
      connection.on('error', () => forget(connection))
      connection.once('end', () => forget(connection))
      const timer = setTimeout(() => {
        forget(connection)
        connection.quit()
      }, IDLE_MS)
      idle.set(connection, timer.unref())
    },
    close() {
      for (const connection of idle.keys()) {
        forget(connection)
        connection.close()
      }
    },
  }
}

/** A server may have hung up meanwhile: one that still answers is asked for nothing else. */
async function isAlive(connection: SmtpConnection, signal: Signal): Promise<boolean> {
  return step(connection, signal, done => connection.reset(done)).then(
    () => true,
    () => false,
  )
}

async function open(server: SmtpServer, signal: Signal, egress: Egress): Promise<SmtpConnection> {
  const { host, port, isTls, auth, requireTls, verifyCertificate } = server
  const socket = await openTcp({ host, port }, signal, egress)
  const connection = new SmtpConnection({
    connection: socket,
    host,
    port,
    secure: isTls,
    requireTLS: requireTls === true,
    ignoreTLS: requireTls === false,
    socketCloseTimeout: 1_000,
    tls: { rejectUnauthorized: verifyCertificate },
  })
  try {
    await step(connection, signal, done => connection.connect(done))
    if (auth) await step(connection, signal, done => connection.login(auth, done))
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** One step of the conversation: done, or whatever ends it before. */
function step(
  connection: SmtpConnection,
  signal: Signal,
  take: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(error)
    const end = () => reject(new Error('the mail server closed the connection'))
    const abort = () => {
      connection.close()
      reject(new Error('called off'))
    }
    connection.on('error', fail)
    connection.once('end', end)
    signal.addEventListener('abort', abort)
    take(error => (error ? reject(error) : resolve()))
    if (signal.aborted) abort()
  })
}
