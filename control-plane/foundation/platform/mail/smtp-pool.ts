import SmtpConnection from 'nodemailer/lib/smtp-connection'
import { type DeadlineSignal, openTcp } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import type { SmtpServer } from './smtp-url.ts'

/** Connections of one process to the mail server; every server allows this many. */
const MAX_CONNECTIONS = 10

/** How long a mail waits for a connection. A delivery's lease is longer than this, an attempt and its time in a queue of fast mails. */
export const CONNECTION_WAIT_MS = 15_000

/** An idle connection is closed after this time. */
const IDLE_TIMEOUT_MS = 5_000

export type SmtpPool = {
  /** Waits for a free place. Returns the function that releases it; null: none became free in time. */
  reserve(): Promise<(() => void) | null>
  /** A connection that is authenticated and alive. Rejects with an EgressFailure or nodemailer's error. */
  acquire(signal: DeadlineSignal): Promise<SmtpConnection>
  /** Keeps a connection for the next mail. */
  release(connection: SmtpConnection): void
  close(): void
}

/**
 * A small pool of connections to one mail server. nodemailer's own SMTPPool, with `getSocket` for the guarded socket and an
 * AbortSignal as the deadline, cannot replace it: after a server has left QUIT or RSET unanswered on ten connections, each of
 * them keeps its place until `socketTimeout`, and a mail that is sent then uses up its deadline in SMTPPool's queue. Here it gets
 * a new connection. SMTPPool also does not pass the signal to `getSocket`, so that opening a socket continues after the deadline.
 */
export function createSmtpPool(server: SmtpServer, egress: Egress, waitMs: number): SmtpPool {
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
    reserve() {
      if (taken < MAX_CONNECTIONS) {
        taken++
        return Promise.resolve(leave)
      }
      return new Promise(resolve => {
        const timer = setTimeout(() => {
          waiting.delete(enter)
          resolve(null)
        }, waitMs)
        const enter = () => {
          clearTimeout(timer)
          waiting.delete(enter)
          resolve(leave)
        }
        waiting.add(enter)
      })
    },
    async acquire(signal) {
      for (const connection of idle.keys()) {
        forget(connection)
        if (await isAlive(connection, signal)) return connection
        connection.close()
      }
      return openConnection(server, signal, egress)
    },
    release(connection) {
      connection.removeAllListeners()
      connection.on('error', () => forget(connection))
      connection.once('end', () => forget(connection))
      const timer = setTimeout(() => {
        forget(connection)
        connection.quit()
      }, IDLE_TIMEOUT_MS)
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

/** Tests an idle connection, because the server may have closed it meanwhile. */
async function isAlive(connection: SmtpConnection, signal: DeadlineSignal): Promise<boolean> {
  return runStep(connection, signal, done => connection.reset(done)).then(
    () => true,
    () => false,
  )
}

async function openConnection(server: SmtpServer, signal: DeadlineSignal, egress: Egress): Promise<SmtpConnection> {
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
    await runStep(connection, signal, done => connection.connect(done))
    if (auth) await runStep(connection, signal, done => connection.login(auth, done))
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Runs one step of the conversation. Rejects when the connection fails or `signal` aborts. */
function runStep(
  connection: SmtpConnection,
  signal: DeadlineSignal,
  step: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(error)
    const end = () => reject(new Error('the mail server closed the connection'))
    const abort = () => {
      connection.close()
      reject(new Error('cancelled'))
    }
    connection.on('error', fail)
    connection.once('end', end)
    signal.addEventListener('abort', abort)
    step(error => (error ? reject(error) : resolve()))
    if (signal.aborted) abort()
  })
}
