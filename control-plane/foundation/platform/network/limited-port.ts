import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

export type PortLimits = {
  /** connections of one client address at a time */
  maxPerAddress: number
  /** a connection without a call is closed after so long */
  firstCallTimeoutMs: number
}

/** `full`: its address has too many; `silent`: no call came in time. */
export type PortRefusal = 'full' | 'silent'

export type LimitedPort = {
  port: number
  /** A call has begun on the connection of this peer (`address:port`). */
  noteCall(peer: string): void
  /** Takes no new connections; those that are open stay. */
  close(): void
}

/** Opens a port that holds no more connections for a client than it may have, and none that only stays open. */
export function openLimitedPort(
  place: { host: string; port: number },
  { maxPerAddress, firstCallTimeoutMs }: PortLimits,
  take: (socket: Socket) => void,
  refused: (why: PortRefusal) => void,
): Promise<LimitedPort> {
  const open = new Map<string, number>()
  const waiting = new Map<string, NodeJS.Timeout>()

  function accept(socket: Socket): void {
    const address = getClientKey(socket.remoteAddress ?? '')
    const count = open.get(address) ?? 0
    if (count >= maxPerAddress) {
      refused('full')
      return void socket.destroy()
    }
    open.set(address, count + 1)
    const peer = `${socket.remoteAddress}:${socket.remotePort}`
    const end = () => {
      if (waiting.get(peer) !== timer) return
      refused('silent')
      socket.destroy()
    }
    // what came while this process was held is read first
    const timer = setTimeout(() => setImmediate(end), firstCallTimeoutMs)
    waiting.set(peer, timer)
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      if (waiting.get(peer) === timer) waiting.delete(peer)
      const left = open.get(address)! - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    take(socket)
  }

  function noteCall(peer: string): void {
    clearTimeout(waiting.get(peer))
    waiting.delete(peer)
  }

  const server = createServer({ noDelay: true }, accept)
  return startListening(server, place).then(port => ({ port, noteCall, close: () => void server.close() }))
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

/** An IPv4 address, or the /64 of an IPv6 address, which one customer of a provider has. */
function getClientKey(remoteAddress: string): string {
  if (!ipaddr.isValid(remoteAddress)) return remoteAddress
  const address = ipaddr.process(remoteAddress)
  return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
}
