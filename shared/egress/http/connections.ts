import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { nowUs } from '../monotonic.ts'
import type { PreparedRequest } from './prepare.ts'

/** An open connection to an origin. `socket` is what one speaks on: `plain` itself, or TLS over it. */
export type Connection = {
  plain: Socket
  socket: Socket | TLSSocket
  certificate: X509Certificate | null
  openedAtUs: number
}

/** Connections that stay open between requests to the same origin, so that not each of them pays for TCP and TLS. */
export type Connections = {
  /** The one that was used last; it is the caller's now. */
  take(hop: PreparedRequest): Connection | null
  keep(hop: PreparedRequest, connection: Connection): void
  /** Closes what is kept. What is kept after it is closed at once. */
  close(): void
}

/** Much less than the seconds after which servers close theirs: a request must not meet a connection that is being closed. */
const IDLE_MS = 1_000

/** After this the name is asked for again, so that a receiver that moves is followed. */
const MAX_AGE_US = 60_000_000

type IdleConnection = { connection: Connection; release: () => void }

export function createConnections(perOrigin: number): Connections {
  const kept = new Map<string, IdleConnection[]>()
  let isClosed = false

  const forget = (origin: string, one: IdleConnection) => {
    const rest = (kept.get(origin) ?? []).filter(other => other !== one)
    if (rest.length > 0) kept.set(origin, rest)
    else kept.delete(origin)
    one.release()
  }

  return {
    take(hop) {
      const origin = formatOrigin(hop)
      const one = kept.get(origin)?.at(-1)
      if (!one) return null
      forget(origin, one)
      return one.connection
    },
    keep(hop, connection) {
      const origin = formatOrigin(hop)
      const others = kept.get(origin) ?? []
      const isOld = nowUs() - connection.openedAtUs > MAX_AGE_US
      if (isClosed || isOld || others.length >= perOrigin) {
        connection.plain.destroy()
        return
      }
      const { socket, plain } = connection
      // whatever happens to a connection that nobody speaks on is its end, a word from the other side too
      const drop = () => {
        forget(origin, one)
        plain.destroy()
      }
      const timer = setTimeout(drop, IDLE_MS).unref()
      const release = () => {
        clearTimeout(timer)
        socket.off('data', drop).off('end', drop).off('close', drop)
      }
      const one: IdleConnection = { connection, release }
      socket.on('data', drop).on('end', drop).on('close', drop)
      kept.set(origin, [...others, one])
    },
    close() {
      isClosed = true
      for (const [origin, all] of [...kept]) {
        for (const one of all) {
          forget(origin, one)
          one.connection.plain.destroy()
        }
      }
    },
  }
}

const formatOrigin = ({ isTls, host, port }: PreparedRequest) => `${isTls ? 'https' : 'http'}://${host}:${port}`
