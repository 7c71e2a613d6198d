import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { createDeadline } from '../deadline.ts'
import { stripHost } from '../guard/host.ts'
import { finishPhases, startPhaseTimer } from '../phases.ts'
import { dial, getFirstPhase } from '../tcp/connect.ts'
import type { Egress } from '../types.ts'

type EgressProxy = {
  /** http://127.0.0.1:port */
  url: string
  /** connections that the guard or the network refused */
  refused: () => number
  close: () => void
}

type ProxyLimits = {
  /** limit of all bytes sent and received; beyond it all connections are closed */
  maxBytes: number
  connectWithinMs: number
}

/** Headers of the connection to the proxy, which are not forwarded. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'upgrade'])

/** What the functions of a proxy share. */
type ProxyState = {
  egress: Egress
  limits: ProxyLimits
  /** all open connections, of clients and to targets */
  sockets: Set<Duplex>
  refused: number
  bytes: number
}

/**
 * A forward proxy on loopback that opens every connection through the guard, for a program that opens its own connections,
 * such as a browser (docs/design/egress.md#proxy). It resolves names itself, so the checked address is the connected one. A
 * refused or failed connection is closed without a response, so that an error page is never taken for the target's.
 */
export async function startEgressProxy(egress: Egress, limits: ProxyLimits): Promise<EgressProxy> {
  const proxy: ProxyState = { egress, limits, sockets: new Set(), refused: 0, bytes: 0 }
  const server = createServer((request, response) => void forward(proxy, request, response))
  server.on('connection', socket => keep(proxy, socket))
  server.on('clientError', (_error, socket) => socket.destroy())
  server.on('connect', (request, client, head) => void tunnel(proxy, request, client, head))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    refused: () => proxy.refused,
    close() {
      server.close()
      destroyAll(proxy)
    },
  }
}

/** `CONNECT host:port`: forwards bytes in both directions. */
async function tunnel(proxy: ProxyState, request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@]+):(\d{1,5})$/.exec(request.url ?? '') ?? []
  const target = host && Number(port) <= 65_535 ? await reach(proxy, stripHost(host), Number(port)) : null
  if (target === null || client.destroyed) {
    target?.destroy()
    client.destroy()
    return
  }
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  countBytes(proxy, target)
  countBytes(proxy, client)
  if (head.length > 0) target.write(head)
  target.pipe(client).pipe(target)
  client.on('close', () => target.destroy())
  target.on('close', () => client.destroy())
}

/** `GET http://host/path`: forwards one request and closes the connection. */
async function forward(proxy: ProxyState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = request.url ?? ''
  const url = URL.canParse(text) ? new URL(text) : null
  const isHttp = url?.protocol === 'http:'
  const target = url && isHttp ? await reach(proxy, stripHost(url.hostname), Number(url.port || 80)) : null
  if (url === null || target === null || request.destroyed) {
    target?.destroy()
    request.destroy()
    return
  }
  countBytes(proxy, target)
  countBytes(proxy, request)
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

/** Connects to a target through the guard; null when it is refused, fails, or the limit of bytes is reached. */
async function reach(proxy: ProxyState, host: string, port: number): Promise<Socket | null> {
  const { egress, limits } = proxy
  const deadline = createDeadline(limits.connectWithinMs)
  const phases = startPhaseTimer(deadline.signal, getFirstPhase(host))
  try {
    if (proxy.bytes > limits.maxBytes) return null
    return keep(proxy, await dial(phases, host, port, egress))
  } catch {
    proxy.refused++
    return null
  } finally {
    finishPhases(phases)
    deadline.clear()
  }
}

/** Adds a connection to those that are closed together. */
function keep<T extends Duplex>({ sockets }: ProxyState, socket: T): T {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  socket.on('error', () => socket.destroy())
  return socket
}

/** Counts what a stream receives, and closes all connections beyond the limit. */
function countBytes(proxy: ProxyState, stream: Readable): void {
  stream.on('data', (chunk: Buffer) => {
    proxy.bytes += chunk.length
    if (proxy.bytes > proxy.limits.maxBytes) destroyAll(proxy)
  })
}

function destroyAll({ sockets }: ProxyState): void {
  for (const socket of sockets) socket.destroy()
}

/** Removes hop-by-hop headers from Node's list of names and values. */
function endToEnd(rawHeaders: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!HOP_BY_HOP.has(rawHeaders[i]!.toLowerCase())) kept.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  }
  return kept
}
