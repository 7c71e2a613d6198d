import { randomBytes } from 'node:crypto'
import { createInternalFailure, type EgressFailure, toEgressFailure } from '../failure.ts'
import { nowUs } from '../monotonic.ts'
import { decodeEchoReply, encodeEcho, type IpFamily, PACKET_BYTES, setEchoSerial, TOKEN_BYTES } from './packet.ts'
import { emptyAddress, isSameHost, socketAddress } from './socket-address.ts'
import { type IcmpSystemCalls, openIcmpSystemCalls } from './system-calls.ts'

/** Echoes to one address. Failed ones count as sent. */
type Echoes = { sent: number; rttsUs: number[]; failure: EgressFailure | null }

type EchoPlan = {
  /** number of echoes */
  count: number
  /** delay between two echoes */
  gapMs: number
  /** after all are sent and one was answered: how long to wait for the others, by the longest round phases so far */
  lostAfterMs: (maxMs: number) => number
}

/** One unprivileged datagram socket for all echoes of an address family. */
export type EchoSocket = {
  /** Sends the first echo. Calls `onEnd` when all are answered, failed or lost; never while none is answered. */
  start: (address: string, plan: EchoPlan, onEnd: () => void) => Echoes
  /** Reads the socket once more and ends the echoes, without calling `onEnd`. */
  stop: (echoes: Echoes) => void
  /** false after an error of the socket; running echoes have ended with a failure */
  isOpen: () => boolean
}

type RunningEchoes = Echoes & {
  to: Buffer
  plan: EchoPlan
  onEnd: () => void
  firstSerial: number
  sentUs: number[]
  failed: number
  /** when the next echo is sent, or, after the last one, when the missing ones are lost */
  dueUs: number
}

/**
 * Interval at which the socket is read and echoes are sent, for all echoes together: a wake-up for each would cost more than
 * the echo. Round trips are measured with the kernel's time of arrival.
 */
const TURN_MS = 20
/** Limits the work per turn, so that a flood does not block the event loop. */
const MAX_READS_PER_TURN = 4096

const NEVER = Number.POSITIVE_INFINITY

/** What the functions of a socket share. */
type SocketState = {
  family: IpFamily
  calls: IcmpSystemCalls
  /** in every echo, so that replies to other programs are ignored */
  token: Buffer
  request: Buffer
  /** One byte larger than a reply, so that longer packets are detected. */
  packet: Buffer
  /** the sender of `packet` */
  from: Buffer
  running: Set<RunningEchoes>
  /** by serial number */
  unanswered: Map<number, RunningEchoes>
  serials: number
  /** when the last read found no more packets */
  emptyUs: number
  turns: NodeJS.Timeout | undefined
  isOpen: boolean
}

export function openEchoSocket(family: IpFamily): EchoSocket | null {
  const calls = openIcmpSystemCalls(family)
  if (calls === null) return null
  const socket = createSocketState(family, calls)
  return {
    start: (address, plan, onEnd) => start(socket, address, plan, onEnd),
    stop(echoes) {
      read(socket)
      end(socket, echoes as RunningEchoes)
    },
    isOpen: () => socket.isOpen,
  }
}

function createSocketState(family: IpFamily, calls: IcmpSystemCalls): SocketState {
  const token = randomBytes(TOKEN_BYTES)
  return {
    ...{ family, calls, token },
    request: encodeEcho(family, token),
    packet: Buffer.alloc(PACKET_BYTES + 1),
    from: emptyAddress(family),
    running: new Set(),
    unanswered: new Map(),
    serials: 0,
    emptyUs: nowUs(),
    turns: undefined,
    isOpen: true,
  }
}

function start(socket: SocketState, address: string, plan: EchoPlan, onEnd: () => void): RunningEchoes {
  const one: RunningEchoes = {
    sent: 0,
    rttsUs: [],
    failure: null,
    to: socketAddress(socket.family, address),
    plan,
    onEnd,
    firstSerial: socket.serials,
    sentUs: [],
    failed: 0,
    dueUs: NEVER,
  }
  socket.serials = (socket.serials + plan.count) >>> 0
  socket.running.add(one)
  if (!socket.turns) {
    // Datagrams since the last turn belong to no running echo.
    socket.emptyUs = nowUs()
    socket.turns = setInterval(() => turn(socket), TURN_MS)
  }
  sendNext(socket, one)
  return one
}

/** Reads the replies, and sends, ends or keeps each running series of echoes. */
function turn(socket: SocketState): void {
  const { running } = socket
  read(socket)
  const now = nowUs()
  for (const one of running) {
    if (one.rttsUs.length + one.failed === one.plan.count) finish(socket, one)
    else if (now < one.dueUs) continue
    else if (one.sent < one.plan.count) sendNext(socket, one)
    else finish(socket, one)
  }
  if (running.size > 0) return
  clearInterval(socket.turns)
  socket.turns = undefined
}

function sendNext({ calls, request, unanswered }: SocketState, one: RunningEchoes): void {
  const serial = (one.firstSerial + one.sent++) >>> 0
  setEchoSerial(request, serial)
  unanswered.set(serial, one)
  const now = nowUs()
  one.sentUs.push(now)
  one.dueUs = one.sent < one.plan.count ? now + one.plan.gapMs * 1000 : computeLossTimeUs(one, now)
  const code = calls.send(request, one.to)
  if (code === null) return
  unanswered.delete(serial)
  one.failed++
  one.failure ??= toEgressFailure({ code, message: `the echo was not sent: ${code}` })
}

/** While none was answered, no echo is lost. */
const computeLossTimeUs = ({ rttsUs, plan }: RunningEchoes, now: number) =>
  rttsUs.length === 0 ? NEVER : now + plan.lostAfterMs(Math.max(...rttsUs) / 1000) * 1000

/** Reads all packets that have arrived, up to the limit of a turn. */
function read(socket: SocketState): void {
  const { calls, packet, from } = socket
  if (!socket.isOpen) return
  try {
    for (let i = 0; i < MAX_READS_PER_TURN; i++) {
      const length = calls.receive(packet, from)
      if (length === null) {
        socket.emptyUs = nowUs()
        return
      }
      takeReply(socket, length)
    }
  } catch (error) {
    breakOff(socket, (error as Error).message)
  }
}

/** Records the round trip if the packet is a reply to an unanswered echo from its target. */
function takeReply({ family, calls, token, packet, from, unanswered, emptyUs }: SocketState, length: number): void {
  const serial = decodeEchoReply(family, token, packet, length)
  const one = serial === null ? undefined : unanswered.get(serial)
  if (!one || !isSameHost(family, one.to, from)) return
  unanswered.delete(serial!)
  const readUs = nowUs()
  // By the system's clock, which may be set at any time; limited to the time since the last read.
  const waitedUs = Math.min(Math.max(0, Math.round(calls.waitedUs())), readUs - emptyUs)
  const sentUs = one.sentUs[(serial! - one.firstSerial) >>> 0]!
  one.rttsUs.push(Math.max(1, readUs - waitedUs - sentUs))
  if (one.dueUs === NEVER) one.dueUs = computeLossTimeUs(one, readUs)
}

/** Closes the socket and ends all running echoes with a failure. */
function breakOff(socket: SocketState, why: string): void {
  socket.isOpen = false
  socket.calls.close()
  const failure = createInternalFailure('icmp_unavailable', `the probe's ICMP socket failed: ${why}`)
  for (const one of socket.running) {
    one.failure ??= failure
    finish(socket, one)
  }
}

function finish(socket: SocketState, one: RunningEchoes): void {
  end(socket, one)
  one.onEnd()
}

function end({ running, unanswered }: SocketState, one: RunningEchoes): void {
  running.delete(one)
  for (let i = 0; i < one.sent; i++) unanswered.delete((one.firstSerial + i) >>> 0)
}
