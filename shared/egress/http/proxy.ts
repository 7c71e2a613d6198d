import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createDeadline } from '../deadline.ts'
import { stripHost } from '../guard/host.ts'
import { finishPhases, startPhaseTimer } from '../phases.ts'
import { dial, getFirstPhase } from '../tcp/connect.ts'
import type { Egress } from '../types.ts'

export type EgressProxy = {
  /** http://127.0.0.1:port */
  url: string
  /** connections that the guard or the network refused */
  refused: () => number
  close: () => void
}

export type ProxyLimits = {
  /** of all that is sent and received together; past it everything is cut */
  maxBytes: number
  connectWithinMs: number
}

/** Belong to the connection with the proxy, not to the request. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'upgrade'])

/**
 * A forward proxy on this machine whose every connection goes through the guard (decisions 11.3): for a program that
 * opens its own connections, as a browser does. It resolves names itself, so that what was checked is what is connected
 * to. What may not or cannot be reached gets no answer at all: a page of ours is never taken for the target's.
 */
export async function startEgressProxy(egress: Egress, limits: ProxyLimits): Promise<EgressProxy> {
  const sockets = new Set<Duplex>()
  let refused = 0
  let bytes = 0

  function keep<T extends Duplex>(socket: T): T {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    return socket
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  function count(chunk: Buffer): void {
    bytes += chunk.length
    if (bytes > limits.maxBytes) cut()
  }

  async function reach(host: string, port: number): Promise<Socket | null> {
    const deadline = createDeadline(limits.connectWithinMs)
    const trip = startPhaseTimer(deadline.signal, getFirstPhase(host))
    try {
      if (bytes > limits.maxBytes) return null
      return keep(await dial(trip, host, port, egress))
    } catch {
      refused++
      return null
    } finally {
      finishPhases(trip)
      deadline.clear()
    }
  }

  const server = createServer((request, response) => void forward(request, response))
  server.on('connection', keep)
  server.on('clientError', (_error, socket) => socket.destroy())
  server.on('connect', (request, client, head) => void tunnel(request, client, head))

  /** `CONNECT host:port`: what goes through is the client's own affair, mostly TLS. */
  async function tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@]+):(\d{1,5})$/.exec(request.url ?? '') ?? []
    const target = host && Number(port) <= 65_535 ? await reach(stripHost(host), Number(port)) : null
    if (target === null || client.destroyed) {
      target?.destroy()
      client.destroy()
      return
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    target.on('data', count)
    client.on('data', count)
    if (head.length > 0) target.write(head)
    target.pipe(client).pipe(target)
    client.on('close', () => target.destroy())
    target.on('close', () => client.destroy())
  }

  /** `GET http://host/path`, a request of its own each, the connection closed after it. */
  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = request.url ?? ''
    const url = URL.canParse(text) ? new URL(text) : null
    const isHttp = url?.protocol === 'http:'
    const target = url && isHttp ? await reach(stripHost(url.hostname), Number(url.port || 80)) : null
    if (url === null || target === null || request.destroyed) {
      target?.destroy()
      request.destroy()
      return
    }
    target.on('data', count)
    request.on('data', count)
    const upstream = httpRequest({
      createConnection: () => target,
      method: request.method ?? 'GET',
      path: url.pathname + url.search,
      headers: [...endToEnd(request.rawHeaders), 'Connection', 'close'],
    })
    upstream.on('response', answer => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders))
      answer.on('error', () => response.destroy())
      answer.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    upstream.on('upgrade', () => response.destroy())
    response.on('close', () => target.destroy())
    request.pipe(upstream)
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    refused: () => refused,
    close() {
      server.close()
      cut()
    },
  }
}

/** node's own list of names and values without what is between neighbours only. */
function endToEnd(rawHeaders: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!HOP_BY_HOP.has(rawHeaders[i]!.toLowerCase())) kept.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  }
  return kept
}
