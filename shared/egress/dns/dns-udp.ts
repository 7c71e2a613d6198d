import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { startTimeLimit } from '../deadline.ts'
import { type EgressFailure, pickFailure, toEgressFailure, toNetworkFailure } from '../failure.ts'
import type { PhaseTimer } from '../phases.ts'
import { createInvalidAnswerFailure } from './dns-message.ts'

export type UdpServer = { address: string; port: number }

/** The messages to send, and the handler of answers. */
type UdpExchange = {
  /** the messages that are not answered yet */
  open: () => Buffer[]
  /**
   * Handles an answer. `complete`: all messages are answered. `error`: the server cannot answer, and the next one is asked
   * without a delay. `broken`: nothing more is read from the server. `enough`: the other messages may stay without an answer.
   * `open`: anything else.
   */
  take: (message: Buffer, from: UdpServer) => 'complete' | 'error' | 'broken' | 'enough' | 'open'
}

/** How long to wait for the other answers after one that is enough: a lost message is sent again once. */
const WAIT_FOR_OTHERS_MS = 1500

/** Delays before a message is sent again; the last one is repeated. */
const RETRY_DELAYS_MS = [1000, 2000, 4000]

/**
 * Sends messages to servers, each on its own connected socket and from a random port, so that the kernel drops datagrams
 * from other senders. Without an answer it sends again, to the next server in turn. Rejects with an EgressFailure when every
 * server refused or is broken (a missing IPv6 route of the probe does not hide the refusal of a server), or when the deadline
 * passes. The addresses must have been checked before.
 */
export function queryOverUdp(phases: PhaseTimer, servers: UdpServer[], { open, take }: UdpExchange): Promise<void> {
  return new Promise((resolve, reject) => {
    const sockets = new Map<UdpServer, Socket>()
    const lost = new Set<UdpServer>()
    let reported: EgressFailure | null = null
    let tries = 0
    let current: UdpServer | null = null
    let timer: NodeJS.Timeout | undefined
    let stopWaiting: (() => void) | null = null
    let isOver = false

    function end(failure?: EgressFailure): void {
      if (isOver) return
      isOver = true
      phases.cancel = null
      clearTimeout(timer)
      stopWaiting?.()
      for (const socket of sockets.values()) socket.close()
      if (failure) reject(failure)
      else resolve()
    }
    function lose(server: UdpServer, error: unknown): void {
      if (isOver) return
      if (lost.has(server)) return
      lost.add(server)
      clearTimeout(timer)
      reported = pickFailure(reported, toEgressFailure(error))
      if (lost.size === servers.length) end(reported)
      else sendNext()
    }
    function sendNext(): void {
      const left = servers.filter(server => !lost.has(server))
      current = left[tries % left.length]!
      sendTo(current)
      timer = setTimeout(sendNext, RETRY_DELAYS_MS[tries] ?? RETRY_DELAYS_MS.at(-1)!)
      tries++
    }
    function sendTo(server: UdpServer): void {
      const known = sockets.get(server)
      if (known) sendOpen(known, server)
      else openTo(server)
    }
    function openTo(server: UdpServer): void {
      const socket = connected(server, () => sendOpen(socket, server))
      sockets.set(server, socket)
      let isSent = false
      socket.once('connect', () => (isSent = true))
      socket.on('error', error => lose(server, isSent ? toNetworkFailure(error) : error))
      socket.on('message', message => {
        if (isOver) return
        const outcome = take(message, server)
        if (outcome === 'complete') end()
        else if (outcome === 'enough') stopWaiting ??= startTimeLimit(WAIT_FOR_OTHERS_MS, end)
        else if (outcome === 'broken') {
          socket.close()
          sockets.delete(server)
          lose(server, createInvalidAnswerFailure())
        } else if (outcome === 'error' && server === current) {
          clearTimeout(timer)
          sendNext()
        }
      })
    }
    function sendOpen(socket: Socket, server: UdpServer): void {
      if (isOver) return
      for (const message of open()) socket.send(message, error => error && lose(server, error))
    }

    phases.cancel = end
    sendNext()
  })
}

function connected({ address, port }: UdpServer, onConnect: () => void): Socket {
  const family = isIPv6(address) ? 6 : 4
  // called with the address to bind to, and with that of the server: both are literals
  const socket = createSocket({
    type: `udp${family}`,
    lookup: (literal, _options, done) => done(null, literal, family),
  })
  socket.once('connect', onConnect)
  socket.connect(port, address)
  return socket
}

/** Parses `address`, `address:port` or `[address]:port`; the default port is 53. */
export function parseServer(text: string): UdpServer {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  return { address: bracketed ?? plain ?? text, port: Number(port ?? 53) }
}
