import { createRequire } from 'node:module'
import { getSystemErrorName } from 'node:util'
import type { IpFamily } from './packet.ts'
import { DOMAIN } from './socket-address.ts'

/**
 * System calls on one unprivileged ICMP socket of Linux. They are called directly because Node's datagram sockets are slower
 * than the rest of an echo and do not report the time of arrival.
 */
export type IcmpSystemCalls = {
  /** Null, or the name of the error (`ENETUNREACH`). Never blocks. */
  send: (packet: Buffer, to: Buffer) => string | null
  /** The length of the next datagram; null when none is waiting. Throws an Error when the socket is unusable. */
  receive: (packet: Buffer, from: Buffer) => number | null
  /** How long the last datagram waited in the socket, in µs by the system's clock; negative when the clock was set back. */
  waitedUs: () => number
  close: () => void
}

/** SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC; IPPROTO_ICMP, IPPROTO_ICMPV6. */
const KIND = 2 | 0o4000 | 0o2000000
const PROTOCOL: Record<IpFamily, number> = { 4: 1, 6: 58 }

/** Buffer for bursts and for a busy event loop: about 1 KiB per echo. */
const BUFFER_BYTES = 4 * 1024 * 1024
const SOL_SOCKET = 1
/** SO_SNDBUFFORCE and SO_RCVBUFFORCE, which need privileges, else SO_SNDBUF and SO_RCVBUF, which the system limits. */
const BUFFER_OPTIONS = [
  [32, 7],
  [33, 8],
]
/** SIOCGSTAMPNS: when the kernel received the last datagram that was read. */
const ARRIVAL = 0x8907
const CLOCK_REALTIME = 0
const NOTHING_YET = 2
const NOTHING_WAITS = 11

/** Null when the kernel refuses (`net.ipv4.ping_group_range`), IPv6 is disabled, or koffi is not available. */
export function openIcmpSystemCalls(family: IpFamily): IcmpSystemCalls | null {
  if (process.platform !== 'linux') return null
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
    return bindSystemCalls(koffi, family)
  } catch {
    // koffi is an optional dependency; without it, the system's ping is used.
    return null
  }
}

function bindSystemCalls(koffi: typeof import('koffi'), family: IpFamily): IcmpSystemCalls | null {
  const libc = koffi.load(null)
  const fd: number = libc.func('int socket(int, int, int)')(DOMAIN[family], KIND, PROTOCOL[family])
  if (fd < 0) return null
  const time = koffi.out(koffi.pointer(koffi.struct({ seconds: 'long', nanoseconds: 'long' })))
  const setOption = libc.func('int setsockopt(int, int, int, const int *, unsigned int)')
  const sendTo = libc.func('long sendto(int, const void *, unsigned long, int, const void *, unsigned int)')
  const receiveFrom = libc.func('long recvfrom(int, void *, unsigned long, int, void *, void *)')
  const arrival = libc.func('ioctl', 'int', ['int', 'unsigned long', time])
  const clock = libc.func('clock_gettime', 'int', ['int', time])
  const close = libc.func('int close(int)')

  for (const options of BUFFER_OPTIONS) {
    options.some(option => setOption(fd, SOL_SOCKET, option, [BUFFER_BYTES], 4) === 0)
  }
  const arrived = { seconds: 0, nanoseconds: 0 }
  const now = { seconds: 0, nanoseconds: 0 }
  // After the first call, the kernel records the arrival of each datagram.
  if (arrival(fd, ARRIVAL, arrived) !== 0 && koffi.errno() !== NOTHING_YET) {
    close(fd)
    return null
  }
  const fromBytes = new Uint32Array(1)

  return {
    send(packet, to) {
      if (sendTo(fd, packet, packet.length, 0, to, to.length) >= 0) return null
      return getSystemErrorName(-koffi.errno())
    },
    receive(packet, from) {
      fromBytes[0] = from.length
      const length: number = receiveFrom(fd, packet, packet.length, 0, from, fromBytes)
      if (length >= 0) return length
      if (koffi.errno() === NOTHING_WAITS) return null
      throw new Error(getSystemErrorName(-koffi.errno()))
    },
    waitedUs() {
      arrival(fd, ARRIVAL, arrived)
      clock(CLOCK_REALTIME, now)
      return (now.seconds - arrived.seconds) * 1e6 + (now.nanoseconds - arrived.nanoseconds) / 1e3
    },
    close: () => void close(fd),
  }
}
