import { type EchoSocket, openEchoSocket } from './echo-socket.ts'
import type { IpFamily } from './packet.ts'
import { isPingAvailable } from './ping-program.ts'

/** How echoes of one family leave this machine. */
export type IcmpMethod =
  | { kind: 'socket'; socket: EchoSocket }
  | { kind: 'ping program'; program: string }
  | { kind: 'none' }

/** The way of each family, found when it is first asked for and kept while it works. */
export type Icmp = (family: IpFamily) => IcmpMethod

export type IcmpOptions = {
  /** false: as if the kernel had refused the socket */
  useSocket?: boolean
  /** the name of the system's ping */
  program?: string
}

export function createIcmp({ useSocket = true, program = 'ping' }: IcmpOptions = {}): Icmp {
  const ways = new Map<IpFamily, IcmpMethod>()

  function find(family: IpFamily): IcmpMethod {
    const socket = useSocket ? openEchoSocket(family) : null
    if (socket) return { kind: 'socket', socket }
    return isPingAvailable(program, family) ? { kind: 'ping program', program } : { kind: 'none' }
  }

  return family => {
    const known = ways.get(family)
    if (known && (known.kind !== 'socket' || known.socket.isOpen())) return known
    const way = find(family)
    ways.set(family, way)
    return way
  }
}
