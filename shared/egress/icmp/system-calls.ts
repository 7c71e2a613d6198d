import { createRequire } from 'node:module'
import { getSystemErrorName } from 'node:util'
import type { IpFamily } from './packet.ts'
import { DOMAIN } from './socket-address.ts'

/**
 * The kernel's calls on one unprivileged ICMP socket of Linux. Made directly: node's datagram sockets cost more than all
 * the rest of an echo, and know of no time of arrival.
 */
export type IcmpSystemCalls = {
  /** Null, or the name of what the kernel says against it (`ENETUNREACH`). Never waits. */
  send: (packet: Buffer, to: Buffer) => string | null
  /** Bytes of the next datagram; null when none waits. Throws an Error when the socket is of no more use. */
  receive: (packet: Buffer, from: Buffer) => number | null
  /** For how many µs the last datagram has waited for us, by the system's clock: negative when that was set back */
  waitedUs: () => number
  close: () => void
}

/** SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC; IPPROTO_ICMP, IPPROTO_ICMPV6. */
const KIND = 2 | 0o4000 | 0o2000000
const PROTOCOL: Record<IpFamily, number> = { 4: 1, 6: 58 }

/** Room for a burst, and for what comes while our own loop is busy: a kilobyte an echo. */
const BUFFER_BYTES = 4 * 1024 * 1024
const SOL_SOCKET = 1
/** SO_SNDBUFFORCE and SO_RCVBUFFORCE, which need rights, else SO_SNDBUF and SO_RCVBUF, which the system limits. */
const BUFFER_OPTIONS = [
  [32, 7],
  [33, 8],
]
/** SIOCGSTAMPNS: when the kernel got the datagram that was read last. */
const ARRIVAL = 0x8907
const CLOCK_REALTIME = 0
const NOTHING_YET = 2
const NOTHING_WAITS = 11

/** Null where the kernel refuses (`net.ipv4.ping_group_range`), IPv6 is off, or the way to ask it is missing. */
export function openIcmpSystemCalls(family: IpFamily): IcmpSystemCalls | null {
  if (process.platform !== 'linux') return null
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
    return bindSystemCalls(koffi, family)
  } catch {
    // koffi is an optional dependency: where it has no binary, the system's ping does the work.
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
  // Asked once, the kernel notes when each datagram comes.
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
