import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createRequire } from 'node:module'
import { SocketAddress } from 'node:net'
import { type EgressFailure, failureOf, internalFailure } from './failure.ts'
import { decodeReply, encodeEcho, type IpFamily, TOKEN_BYTES } from './icmp-packet.ts'
import { nowUs } from './monotonic.ts'

/** What became of one echo. A lost one is never told. */
export type OnEcho = (answer: { rttUs: number } | { failure: EgressFailure }) => void

/** One unprivileged datagram socket through which all echoes of a family go, however many run at once. */
export type EchoSocket = {
  /** Sends one echo and answers its serial. */
  send: (address: string, onEcho: OnEcho) => number
  /** A reply to this one is not waited for any more. */
  forget: (serial: number) => void
  /** false after an error of the socket itself; what was under way has been told */
  isOpen: () => boolean
  close: () => void
}

type Pending = { address: string; sentUs: number; onEcho: OnEcho }

/** The kernel takes a destination with a port and looks at the address only; node refuses port 0. */
const ANY_PORT = 1

/** Null where the kernel refuses (`net.ipv4.ping_group_range`), IPv6 is off, or the way to ask it is missing. */
export function openEchoSocket(family: IpFamily): EchoSocket | null {
  const fd = openDescriptor(family)
  if (fd === null) return null
  const token = randomBytes(TOKEN_BYTES)
  const pending = new Map<number, Pending>()
  let serial = 0
  let isOpen = true

  const socket = createSocket({
    type: family === 4 ? 'udp4' : 'udp6',
    // Only addresses come here; node would put each through the system's resolver.
    lookup: (address, _options, done) => done(null, address, family),
  })
  socket.bind({ fd })
  // Never what keeps a process alive: who waits for an answer has a deadline.
  socket.unref()
  socket.on('message', (packet, { address }) => {
    const receivedUs = nowUs()
    const found = decodeReply(family, token, packet)
    const echo = found === null ? undefined : pending.get(found)
    if (!echo || echo.address !== withoutZone(address)) return
    pending.delete(found!)
    echo.onEcho({ rttUs: receivedUs - echo.sentUs })
  })
  socket.on('error', error => {
    close()
    const failure = internalFailure('icmp_unavailable', `the probe's ICMP socket failed: ${error.message}`)
    for (const { onEcho } of pending.values()) onEcho({ failure })
    pending.clear()
  })

  function close(): void {
    if (isOpen) socket.close()
    isOpen = false
  }

  return {
    send(address, onEcho) {
      serial = (serial + 1) >>> 0
      const mine = serial
      pending.set(mine, { address: canonical(address, family), sentUs: nowUs(), onEcho })
      socket.send(encodeEcho(family, token, mine), ANY_PORT, address, error => {
        if (error && pending.delete(mine)) onEcho({ failure: failureOf(error) })
      })
      return mine
    },
    forget: mine => void pending.delete(mine),
    isOpen: () => isOpen,
    close,
  }
}

const withoutZone = (address: string) => {
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

/** As the kernel writes the address of a sender. */
function canonical(address: string, family: IpFamily): string {
  return family === 4 ? address : new SocketAddress({ address, family: 'ipv6' }).address
}

/** Of Linux: AF_INET, AF_INET6; SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC; IPPROTO_ICMP, IPPROTO_ICMPV6. */
const DOMAIN: Record<IpFamily, number> = { 4: 2, 6: 10 }
const KIND = 2 | 0o4000 | 0o2000000
const PROTOCOL: Record<IpFamily, number> = { 4: 1, 6: 58 }

/** Room for what comes while our own loop is busy: a kilobyte a reply. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024
const SOL_SOCKET = 1
/** SO_RCVBUFFORCE, which needs rights, else SO_RCVBUF, which the system limits. */
const RECEIVE_BUFFER_OPTIONS = [33, 8]

function openDescriptor(family: IpFamily): number | null {
  if (process.platform !== 'linux') return null
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
    const libc = koffi.load(null)
    const fd: number = libc.func('int socket(int, int, int)')(DOMAIN[family], KIND, PROTOCOL[family])
    if (fd < 0) return null
    const setOption = libc.func('int setsockopt(int, int, int, const int *, unsigned int)')
    for (const option of RECEIVE_BUFFER_OPTIONS) {
      if (setOption(fd, SOL_SOCKET, option, [RECEIVE_BUFFER_BYTES], 4) === 0) break
    }
    return fd
  } catch {
    // koffi is an optional dependency: where it has no binary, the system's ping does the work.
    return null
  }
}
