import { randomBytes } from 'node:crypto'
import { createInternalFailure, type EgressFailure, toEgressFailure } from '../failure.ts'
import { nowUs } from '../monotonic.ts'
import { decodeEchoReply, encodeEcho, type IpFamily, PACKET_BYTES, setEchoSerial, TOKEN_BYTES } from './packet.ts'
import { emptyAddress, isSameHost, socketAddress } from './socket-address.ts'
import { type IcmpSystemCalls, openIcmpSystemCalls } from './system-calls.ts'

/** Echoes to one address, under way or over. Those that failed count as sent. */
export type Echoes = { sent: number; rttsUs: number[]; failure: EgressFailure | null }

export type EchoPlan = {
  /** echoes that are sent */
  count: number
  /** between two of them */
  gapMs: number
  /** once one was answered and all are sent, the others are waited for so long */
  lostAfterMs: (longestMs: number) => number
}

/** One unprivileged datagram socket through which all echoes of a family go, however many run at once. */
export type EchoSocket = {
  /** Sends the first echo at once. `onEnd` hears when all were answered, failed or are lost; silence never ends. */
  start: (address: string, plan: EchoPlan, onEnd: () => void) => Echoes
  /** Ends them after a last look at what has come, without `onEnd`. */
  stop: (echoes: Echoes) => void
  /** false after an error of the socket itself; what was under way has been told */
  isOpen: () => boolean
}

type Running = Echoes & {
  to: Buffer
  plan: EchoPlan
  onEnd: () => void
  firstSerial: number
  sentUs: number[]
  failed: number
  /** when the next is sent, and after the last of them when the missing ones are lost */
  dueUs: number
}

/**
 * How often the socket is read and the next echoes are sent while any are under way, in one go for all of them: to be
 * woken for each would cost more than the echo. Round trips are measured by the kernel's time of arrival.
 */
const TURN_MS = 20
/** A flood must not hold up our loop. */
const MAX_READS_PER_TURN = 4096

export function openEchoSocket(family: IpFamily): EchoSocket | null {
  const calls = openIcmpSystemCalls(family)
  return calls && echoSocket(family, calls)
}

const NEVER = Number.POSITIVE_INFINITY

/** While none was answered, no silence is too long. */
const computeLossTimeUs = ({ rttsUs, plan }: Running, now: number) =>
  rttsUs.length === 0 ? NEVER : now + plan.lostAfterMs(Math.max(...rttsUs) / 1000) * 1000

function echoSocket(family: IpFamily, calls: IcmpSystemCalls): EchoSocket {
  const token = randomBytes(TOKEN_BYTES)
  const request = encodeEcho(family, token)
  // One byte more than a reply has, so that what is longer shows.
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
    // By the system's clock, which may be set at any time: no more than the time since we last looked.
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
        // What has come since the last turn, if anything, is nobody's answer.
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
