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

type PingOptions = {
  host: string
  /** number of echoes */
  count: number
  /** delay between two echoes; 200 ms is the minimum of the system's ping for unprivileged users */
  gapMs: number
}

type PingResult = {
  /** null when at least one echo was answered */
  error: CheckError | null
  /** the average round phases, or without an answer the elapsed time; all of it in `firstByteUs` */
  timings: Timings
  totalUs: number
  resolvedIp: string | null
  ping: PingStats | null
}

type Outcome = { stats: PingStats | null; failure: EgressFailure | null }

/** Failures of one address family on the probe; the other family is tried. */
const LOCAL_FAILURES = new Set(['network_unreachable', 'local_resources', 'icmp_unavailable'])

/**
 * Sends ICMP echoes to the first of the host's addresses that the probe can reach. Never throws; `signal` is the deadline for
 * name and echoes. While no echo is answered, it waits until the deadline.
 */
export async function pingHost(options: PingOptions, signal: DeadlineSignal, egress: Egress): Promise<PingResult> {
  const phases = startPhaseTimer(signal, getFirstPhase(options.host) === 'dnsUs' ? 'dnsUs' : 'firstByteUs')
  let error: CheckError | null = null
  let resolvedIp: string | null = null
  let ping: PingStats | null = null
  try {
    throwIfAborted(phases)
    const found = egress.resolve(options.host, null)
    const addresses = Array.isArray(found) ? found : await waitWithDeadline(phases, found)
    if (phases.phase === 'dnsUs') enterPhase(phases, 'firstByteUs')
    let failure: EgressFailure | null = null
    for (const address of addresses) {
      resolvedIp = address
      ;({ stats: ping, failure } = await pingAddress(phases, address, options, egress))
      if (failure === null || phases.signal.aborted || !LOCAL_FAILURES.has(failure.code)) break
    }
    if (failure) error = toCheckError(failure)
  } catch (cause) {
    error = toCheckError(toEgressFailure(cause))
  }
  const elapsedUs = finishPhases(phases)
  if (error !== null || ping === null) return { error, timings: phases.timings, totalUs: elapsedUs, resolvedIp, ping }
  const totalUs = ping.rttAvgUs
  const timings = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: totalUs, transferUs: 0 }
  return { error, timings, totalUs, resolvedIp, ping }
}

async function pingAddress(
  phases: PhaseTimer,
  address: string,
  options: PingOptions,
  egress: Egress,
): Promise<Outcome> {
  const family: IpFamily = address.includes(':') ? 6 : 4
  const method = egress.icmp(family)
  if (method.kind === 'socket') return sendEchoes(phases, method.socket, address, options)
  if (method.kind === 'none') {
    return {
      stats: null,
      failure: createUnavailableFailure('neither an ICMP socket nor the system’s ping is available'),
    }
  }
  const run = runPing(method.program, address, family, options)
  let abort: EgressFailure | null = null
  phases.cancel = failure => {
    abort = failure
    run.stop()
  }
  const { stats, failure } = await run.done
  phases.cancel = null
  if (isCancelled(abort)) throw abort!
  return { stats, failure: stats && failure?.code === 'timeout' ? silence(stats.sent) : failure }
}

function sendEchoes(
  phases: PhaseTimer,
  socket: EchoSocket,
  address: string,
  { count, gapMs }: PingOptions,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      phases.cancel = null
      const { sent, rttsUs, failure } = echoes
      resolve({ stats: computeStats(sent, rttsUs), failure: rttsUs.length > 0 ? null : (failure ?? silence(sent)) })
    }
    const echoes = socket.start(address, { count, gapMs, lostAfterMs: computeLossTimeoutMs }, finish)
    phases.cancel = abort => {
      socket.stop(echoes)
      if (isCancelled(abort)) reject(abort)
      else finish()
    }
  })
}

/** Whether the check was cancelled. The deadline only ends the waiting. */
const isCancelled = (abort: EgressFailure | null) => abort?.source === FailureSource.INTERNAL

const silence = (sent: number) => createTargetFailure('timeout', `none of ${sent} echoes was answered`)

function computeStats(sent: number, rtts: number[]): PingStats {
  if (rtts.length === 0) return { sent, received: 0, rttMinUs: 0, rttAvgUs: 0, rttMaxUs: 0 }
  const sum = rtts.reduce((total, rtt) => total + rtt, 0)
  const rttAvgUs = Math.round(sum / rtts.length)
  return { sent, received: rtts.length, rttMinUs: Math.min(...rtts), rttAvgUs, rttMaxUs: Math.max(...rtts) }
}
