import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { nowUs } from '../monotonic.ts'
import type { PreparedRequest } from './prepare.ts'

/** An open connection to an origin. `socket`: `plain` itself, or TLS over it. */
export type Connection = {
  plain: Socket
  socket: Socket | TLSSocket
  certificate: X509Certificate | null
  openedAtUs: number
}

/** Connections that stay open between requests to the same origin, to avoid TCP and TLS handshakes. */
export type Connections = {
  /** Removes and returns the most recently used connection, which then belongs to the caller. */
  take(hop: PreparedRequest): Connection | null
  keep(hop: PreparedRequest, connection: Connection): void
  /** Closes all kept connections. Connections passed to `keep` later are closed immediately. */
  close(): void
}

/** Shorter than the idle timeout of servers, so that a request does not use a connection that is being closed. */
const IDLE_MS = 1_000

/** After this time the name is resolved again, so that changed addresses are used. */
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
      // any event on an idle connection closes it, including unexpected data
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
