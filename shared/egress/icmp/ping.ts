import { type CheckError, FailureSource, type PingStats, type Timings } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { createTargetFailure, type EgressFailure, toCheckError, toEgressFailure } from '../failure.ts'
import {
  enterPhase,
  finishPhases,
  type PhaseTimer,
  startPhaseTimer,
  throwIfAborted,
  waitWithDeadline,
} from '../phases.ts'
import { getFirstPhase } from '../tcp/connect.ts'
import type { Egress } from '../types.ts'
import type { EchoSocket } from './echo-socket.ts'
import type { IpFamily } from './packet.ts'
import { computeLossTimeoutMs, createUnavailableFailure, runPing } from './ping-program.ts'

export type PingOptions = {
  host: string
  /** echoes that are sent */
  count: number
  /** between two of them; 200 ms is the least that the system's ping grants everybody */
  gapMs: number
}

export type PingResult = {
  /** null when at least one echo was answered */
  error: CheckError | null
  /** the average round trip where there is one, else the time until the end; `firstByteUs` is all of it */
  timings: Timings
  totalUs: number
  resolvedIp: string | null
  ping: PingStats | null
}

type Outcome = { stats: PingStats | null; failure: EgressFailure | null }

/** What the probe itself lacks for one family of addresses, and may have for the other. */
const NO_WAY_THERE = new Set(['network_unreachable', 'local_resources', 'icmp_unavailable'])

/**
 * Sends ICMP echoes to the first of the host's addresses that can be reached from here. Never throws; `signal` is the
 * one deadline over name and echoes. While no echo is answered it waits until then.
 */
export async function pingHost(options: PingOptions, signal: DeadlineSignal, egress: Egress): Promise<PingResult> {
  const trip = startPhaseTimer(signal, getFirstPhase(options.host) === 'dnsUs' ? 'dnsUs' : 'firstByteUs')
  let error: CheckError | null = null
  let resolvedIp: string | null = null
  let ping: PingStats | null = null
  try {
    throwIfAborted(trip)
    const found = egress.resolve(options.host, null)
    const addresses = Array.isArray(found) ? found : await waitWithDeadline(trip, found)
    if (trip.phase === 'dnsUs') enterPhase(trip, 'firstByteUs')
    let failure: EgressFailure | null = null
    for (const address of addresses) {
      resolvedIp = address
      ;({ stats: ping, failure } = await pingAddress(trip, address, options, egress))
      if (failure === null || !NO_WAY_THERE.has(failure.code)) break
    }
    if (failure) error = toCheckError(failure)
  } catch (cause) {
    error = toCheckError(toEgressFailure(cause))
  }
  const elapsedUs = finishPhases(trip)
  if (error !== null || ping === null) return { error, timings: trip.timings, totalUs: elapsedUs, resolvedIp, ping }
  const totalUs = ping.rttAvgUs
  const timings = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: totalUs, transferUs: 0 }
  return { error, timings, totalUs, resolvedIp, ping }
}

async function pingAddress(trip: PhaseTimer, address: string, options: PingOptions, egress: Egress): Promise<Outcome> {
  const family: IpFamily = address.includes(':') ? 6 : 4
  const way = egress.icmp(family)
  if (way.kind === 'socket') return sendEchoes(trip, way.socket, address, options)
  if (way.kind === 'none') {
    return {
      stats: null,
      failure: createUnavailableFailure('neither an ICMP socket nor the system’s ping may be used'),
    }
  }
  const run = runPing(way.program, address, family, options)
  let abort: EgressFailure | null = null
  trip.cancel = failure => {
    abort = failure
    run.stop()
  }
  const { stats, failure } = await run.done
  trip.cancel = null
  if (isCalledOff(abort)) throw abort!
  return { stats, failure: stats && failure?.code === 'timeout' ? silence(stats.sent) : failure }
}

function sendEchoes(
  trip: PhaseTimer,
  socket: EchoSocket,
  address: string,
  { count, gapMs }: PingOptions,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      trip.cancel = null
      const { sent, rttsUs, failure } = echoes
      resolve({ stats: computeStats(sent, rttsUs), failure: rttsUs.length > 0 ? null : (failure ?? silence(sent)) })
    }
    const echoes = socket.start(address, { count, gapMs, lostAfterMs: computeLossTimeoutMs }, settle)
    trip.cancel = abort => {
      socket.stop(echoes)
      if (isCalledOff(abort)) reject(abort)
      else settle()
    }
  })
}

/** The deadline ends the waiting; anything else ends the check. */
const isCalledOff = (abort: EgressFailure | null) => abort?.source === FailureSource.INTERNAL

const silence = (sent: number) => createTargetFailure('timeout', `none of ${sent} echoes was answered`)

function computeStats(sent: number, rtts: number[]): PingStats {
  if (rtts.length === 0) return { sent, received: 0, rttMinUs: 0, rttAvgUs: 0, rttMaxUs: 0 }
  const sum = rtts.reduce((total, rtt) => total + rtt, 0)
  const rttAvgUs = Math.round(sum / rtts.length)
  return { sent, received: rtts.length, rttMinUs: Math.min(...rtts), rttAvgUs, rttMaxUs: Math.max(...rtts) }
}
