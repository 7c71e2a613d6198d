import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import type { Teardown } from './teardown.ts'

/** What a target does with a request. `hang` never answers; `hold` waits for `release`; `reset` cuts the connection with RST. */
export type Behaviour =
  | {
      kind: 'answer'
      status?: number
      headers?: Record<string, string | string[]>
      /** a function: made when the request is answered */
      body?: string | Buffer | (() => string)
      delayMs?: number
    }
  | { kind: 'hang'; after: 'connect' | 'headers' }
  | { kind: 'hold' }
  | { kind: 'reset'; after: 'connect' | 'headers' }
  /** sends `body` a byte each `everyMs`, forever when `endless` */
  | { kind: 'drip'; everyMs: number; body?: string; endless?: boolean }
  | { kind: 'redirect'; to: string; status?: number }
  /** a body of this many bytes, in chunks, without a content-length when `chunked` */
  | { kind: 'big'; bytes: number; chunked?: boolean }

type SeenRequest = { method: string; path: string; headers: IncomingMessage['headers']; atMs: number }

export type Target = {
  url: string
  port: number
  /** sets the behaviour from now on; the default answers 200 "ok" */
  behave(next: Behaviour): void
  /** sets the behaviour of one path, independent of `behave` */
  behaveAt(path: string, next: Behaviour): void
  /** sets the behaviour for the next request only */
  behaveOnce(next: Behaviour): void
  /** releases the requests that are held: each is answered like a new one */
  release(): void
  requests: SeenRequest[]
  /** the number of open connections */
  countConnections(): Promise<number>
  /** refuses connections from now on / accepts them again on the same port */
  close(): Promise<void>
  open(): Promise<void>
}

/** An HTTP server on a free port of 127.0.0.1 that misbehaves on demand. */
export async function startTarget(t: Teardown): Promise<Target> {
  let behaviour: Behaviour = { kind: 'answer' }
  const byPath = new Map<string, Behaviour>()
  const once: Behaviour[] = []
  let held: { path: string; response: ServerResponse }[] = []
  const requests: SeenRequest[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    requests.push({ method: request.method ?? '', path, headers: request.headers, atMs: Date.now() })
    response.on('error', () => {})
    answer(path, response)
  })
  const answer = (path: string, response: ServerResponse) => {
    const next = once.shift() ?? byPath.get(path.split('?')[0] ?? '') ?? behaviour
    if (next.kind === 'hold') held.push({ path, response })
    else act(next, response)
  }
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const port = await reserveFreePort()
  await listen(port)
  t.teardown(close)
  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    behave: next => {
      behaviour = next
    },
    behaveAt: (path, next) => void byPath.set(path, next),
    behaveOnce: next => void once.push(next),
    countConnections: () => new Promise(resolve => server.getConnections((_, count) => resolve(count))),
    release() {
      const released = held
      held = []
      for (const { path, response } of released) answer(path, response)
    },
    requests,
    close,
    open: () => listen(port),
  }
}

function act(behaviour: Exclude<Behaviour, { kind: 'hold' }>, response: ServerResponse): void {
  const socket = response.socket as Socket
  if (behaviour.kind === 'answer') {
    const { status = 200, headers = {}, body = 'ok', delayMs = 0 } = behaviour
    setTimeout(() => response.writeHead(status, headers).end(typeof body === 'function' ? body() : body), delayMs)
  } else if (behaviour.kind === 'redirect') {
    response.writeHead(behaviour.status ?? 302, { location: behaviour.to }).end()
  } else if (behaviour.kind === 'drip') {
    drip(response, behaviour)
  } else if (behaviour.kind === 'big') {
    sendBig(response, behaviour.bytes, behaviour.chunked ?? false)
  } else {
    if (behaviour.after === 'headers') response.writeHead(200, { 'content-length': '1000' }).write('begin')
    if (behaviour.kind === 'reset') setTimeout(() => socket.resetAndDestroy(), 5)
  }
}

function drip(
  response: ServerResponse,
  { everyMs, body = 'drip', endless }: Extract<Behaviour, { kind: 'drip' }>,
): void {
  response.writeHead(200)
  let sent = 0
  const timer = setInterval(() => {
    if (!endless && sent >= body.length) return void response.end()
    response.write(body[sent++ % body.length])
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

function sendBig(response: ServerResponse, bytes: number, chunked: boolean): void {
  response.writeHead(200, chunked ? {} : { 'content-length': String(bytes) })
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let left = bytes
  const more = () => {
    while (left > 0 && !response.destroyed) {
      const part = chunk.subarray(0, Math.min(left, chunk.length))
      left -= part.length
      if (!response.write(part)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

type TcpTarget = {
  host: string
  port: number
  connections(): number
  close(): Promise<void>
  open(): Promise<void>
}

/** A TCP server on a free port of 127.0.0.1; `greeting` is written to each connection. */
export async function startTcpTarget(t: Teardown, greeting = ''): Promise<TcpTarget> {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createTcpServer(socket => {
    accepted++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    if (greeting) socket.write(greeting)
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  const port = await reserveFreePort()
  await listen(port)
  t.teardown(close)
  return { host: '127.0.0.1', port, connections: () => accepted, close, open: () => listen(port) }
}
