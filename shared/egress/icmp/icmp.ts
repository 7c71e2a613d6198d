import { type EchoSocket, openEchoSocket } from './echo-socket.ts'
import type { IpFamily } from './packet.ts'
import { isPingAvailable } from './ping-program.ts'

/** How echoes of one address family are sent. */
type IcmpMethod = { kind: 'socket'; socket: EchoSocket } | { kind: 'ping program'; program: string } | { kind: 'none' }

/** The method for each family, chosen on first use and kept while it works. */
export type Icmp = (family: IpFamily) => IcmpMethod

type IcmpOptions = {
  /** false: behave as if the kernel refused the socket */
  useSocket?: boolean
  /** the name of the system's ping */
  program?: string
}

export function createIcmp({ useSocket = true, program = 'ping' }: IcmpOptions = {}): Icmp {
  const methods = new Map<IpFamily, IcmpMethod>()

  function find(family: IpFamily): IcmpMethod {
    const socket = useSocket ? openEchoSocket(family) : null
    if (socket) return { kind: 'socket', socket }
    return isPingAvailable(program, family) ? { kind: 'ping program', program } : { kind: 'none' }
  }

  return family => {
    const known = methods.get(family)
    if (known && (known.kind !== 'socket' || known.socket.isOpen())) return known
    const method = find(family)
    methods.set(family, method)
    return method
  }
}
