import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createKeyCounter } from '../concurrency/key-counter.ts'
import { toSocketNetwork } from './client-network.ts'

export type PortLimits = {
  /** connections of one client address at the same time */
  maxPerAddress: number
  /** a connection without a call is closed after this time */
  firstCallTimeoutMs: number
}

/** `full`: the address has too many connections; `silent`: no call arrived in time. */
export type PortRefusal = 'full' | 'silent'

export type LimitedPort = {
  port: number
  /** A call has begun on the connection of this peer (`address:port`). */
  noteCall(peer: string): void
  /** Accepts no new connections; open ones stay open. */
  close(): void
}

/** Opens a port that limits connections per client address and closes connections without a call. */
export function openLimitedPort(
  address: { host: string; port: number },
  { maxPerAddress, firstCallTimeoutMs }: PortLimits,
  onConnection: (socket: Socket) => void,
  onRefused: (why: PortRefusal) => void,
): Promise<LimitedPort> {
  const open = createKeyCounter()
  const waiting = new Map<string, NodeJS.Timeout>()

  function accept(socket: Socket): void {
    const client = toSocketNetwork(socket.remoteAddress)
    if (open.get(client) >= maxPerAddress) {
      onRefused('full')
      return void socket.destroy()
    }
    open.add(client, 1)
    const peer = `${socket.remoteAddress}:${socket.remotePort}`
    const end = () => {
      if (waiting.get(peer) !== timer) return
      onRefused('silent')
      socket.destroy()
    }
    // data that arrived while this process was blocked is read first
    const timer = setTimeout(() => setImmediate(end), firstCallTimeoutMs)
    waiting.set(peer, timer)
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      if (waiting.get(peer) === timer) waiting.delete(peer)
      open.add(client, -1)
    })
    // gRPC and TLS begin with a message of the client: connections that only show that the port is open cost nothing more
    socket.once('readable', () => {
      if (socket.readableLength > 0) onConnection(socket)
      else socket.destroy()
    })
  }

  function noteCall(peer: string): void {
    clearTimeout(waiting.get(peer))
    waiting.delete(peer)
  }

  const server = createServer({ noDelay: true }, accept)
  return startListening(server, address).then(port => ({ port, noteCall, close: () => void server.close() }))
}

function startListening(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
