import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { monotonicMs, startTimer } from '../platform/time/clock.ts'
import type { App, HttpReply } from './server/types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** how long an authenticated client may take to send a body, if it keeps sending; default, and for all others: 30 s */
    bodyTimeoutMs?: number
  }
}

type ConnectionLimits = {
  /** for the headers, and for the body of a request whose caller is not known */
  bodyMs: number
  /** what a client with more time has to send in each `bodyMs` */
  minBytes: number
  /** for requests in progress when the server closes; the process needs the rest of its time to release its work */
  closeMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = { bodyMs: 30_000, minBytes: 256 * 1024, closeMs: 4_000 }

/**
 * Closes connections on which a body is not complete in time. A route with `bodyTimeoutMs` gives callers with a key more time,
 * as long as they send `minBytes` in each `bodyMs`.
 */
export function limitBodyTime(app: App, { bodyMs, minBytes }: ConnectionLimits): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { bodyTimeoutMs = 0 } = request.routeOptions.config
    const mayContinue = (elapsedMs: number, bytes: number) =>
      request.caller !== null && elapsedMs < bodyTimeoutMs && bytes >= minBytes
    limitBody(app, request.raw, bodyMs, mayContinue)
    done()
  })
}

/** `mayContinue` is asked after each `ms`, with the time since the beginning and the bytes received in the last `ms`. */
export function limitBody(
  app: App,
  raw: IncomingMessage,
  ms: number,
  mayContinue: (elapsedMs: number, bytes: number) => boolean = () => false,
): void {
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return
  const beganMs = monotonicMs()
  let cancel: () => void
  const watch = (bytesBefore: number) => {
    // what arrived while this process was busy is read first
    cancel = startTimer(ms, () => setImmediate(check, bytesBefore))
  }
  const check = (bytesBefore: number) => {
    // a request of this process (inject) has no connection
    if (raw.complete !== false || raw.destroyed) return
    const { bytesRead } = raw.socket
    if (mayContinue(monotonicMs() - beganMs, bytesRead - bytesBefore)) return watch(bytesRead)
    app.server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), raw.socket)
  }
  watch(raw.socket?.bytesRead ?? 0)
  for (const event of ['close', 'end']) raw.once(event, () => cancel())
}

/**
 * While the server closes, each connection ends with its response; kept alive, it would delay the close. A connection on
 * which nothing was sent yet, as browsers open in advance, ends at once: Node does not count it among the idle ones. A request
 * that is not answered in time, such as a slow upload or download, ends without an answer.
 */
export function closeConnectionsOnShutdown(app: App, { closeMs }: ConnectionLimits): void {
  const open = new Set<Socket>()
  let isClosing = false
  app.server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', async () => {
    isClosing = true
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    const cancel = startTimer(closeMs, () => {
      for (const socket of open) socket.destroy()
    })
    app.server.once('close', cancel)
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}

/** A signal that aborts when the connection of a request ends before its response, and without effect after the response. */
export function createGoneSignal(reply: HttpReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
