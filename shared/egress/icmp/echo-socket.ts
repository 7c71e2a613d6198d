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
  lostAfterMs: (longestMs: number) => number
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

type Running = Echoes & {
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

export function openEchoSocket(family: IpFamily): EchoSocket | null {
  const calls = openIcmpSystemCalls(family)
  return calls && echoSocket(family, calls)
}

const NEVER = Number.POSITIVE_INFINITY

/** While none was answered, no echo is lost. */
const computeLossTimeUs = ({ rttsUs, plan }: Running, now: number) =>
  rttsUs.length === 0 ? NEVER : now + plan.lostAfterMs(Math.max(...rttsUs) / 1000) * 1000

function echoSocket(family: IpFamily, calls: IcmpSystemCalls): EchoSocket {
  const token = randomBytes(TOKEN_BYTES)
  const request = encodeEcho(family, token)
  // One byte larger than a reply, so that longer packets are detected.
  const packet = Buffer.alloc(PACKET_BYTES + 1)
  const from = emptyAddress(family)
  const running = new Set<Running>()
  const unanswered = new Map<number, Running>()
  let serials = 0
  let emptyUs = nowUs()
  let turns: NodeJS.Timeout | undefined
  let isOpen = true

  function sendNext(one: Running): void {
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

  function read(): void {
    if (!isOpen) return
    try {
      for (let i = 0; i < MAX_READS_PER_TURN; i++) {
        const length = calls.receive(packet, from)
        if (length === null) {
          emptyUs = nowUs()
          return
        }
        answer(length)
      }
    } catch (error) {
      breakOff((error as Error).message)
    }
  }

  function answer(length: number): void {
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

  function breakOff(why: string): void {
    isOpen = false
    calls.close()
    const failure = createInternalFailure('icmp_unavailable', `the probe's ICMP socket failed: ${why}`)
    for (const one of running) {
      one.failure ??= failure
      finish(one)
    }
  }

  function turn(): void {
    read()
    const now = nowUs()
    for (const one of running) {
      if (one.rttsUs.length + one.failed === one.plan.count) finish(one)
      else if (now < one.dueUs) continue
      else if (one.sent < one.plan.count) sendNext(one)
      else finish(one)
    }
    if (running.size > 0) return
    clearInterval(turns)
    turns = undefined
  }

  function finish(one: Running): void {
    end(one)
    one.onEnd()
  }

  function end(one: Running): void {
    running.delete(one)
    for (let i = 0; i < one.sent; i++) unanswered.delete((one.firstSerial + i) >>> 0)
  }

  return {
    start(address, plan, onEnd) {
      const one: Running = {
        sent: 0,
        rttsUs: [],
        failure: null,
        to: socketAddress(family, address),
        plan,
        onEnd,
        firstSerial: serials,
        sentUs: [],
        failed: 0,
        dueUs: NEVER,
      }
      serials = (serials + plan.count) >>> 0
      running.add(one)
      if (!turns) {
        // Datagrams since the last turn belong to no running echo.
        emptyUs = nowUs()
        turns = setInterval(turn, TURN_MS)
      }
      sendNext(one)
      return one
    },
    stop(echoes) {
      read()
      end(echoes as Running)
    },
    isOpen: () => isOpen,
  }
}
