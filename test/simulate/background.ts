import type { Machine } from '../../probe-agent/clock.ts'
import type { DoubtDetector } from '../../probe-agent/execution/own-faults/doubt.ts'
import { recordReachability } from '../../probe-agent/execution/own-faults/reachability.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource } from '../../shared/checks/result.ts'
import type { AttemptObservation } from './targets.ts'

/** Number of additional targets of each probe, each on its own host. */
const HOSTS = 300
const EVERY_MS = 30_000
const STEP_MS = EVERY_MS / HOSTS
const TIMEOUTS_MS = [10_000, 5_000, 10_000, 30_000]
/** Older observations do not influence the detection of doubtful failures. */
const KEPT_MS = 11 * 60_000
const TIMINGS = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
const NOTHING = { headers: null, body: null, certificate: null, totalUs: 0, timings: TIMINGS }

/** The part of an attempt's observation that the doubt detector reads. */
export const buildObservation = (error: CheckError | null, statusCode: number | null, address: string | null) => ({
  ...NOTHING,
  error,
  statusCode,
  resolvedIp: error?.source === FailureSource.RESOLVER ? null : address,
})

type Background = {
  /** Records the answers since the last call. Call it before any other observation is recorded. */
  catchUp: () => void
  /** Starts to check the hosts one by one if something may be broken. */
  startChecking: () => void
}

type Parts = {
  machine: Machine
  doubt: DoubtDetector
  /** whether a host may be unreachable now */
  isImpaired: () => boolean
  /** the result of an attempt on a host */
  attempt: (host: string, timeoutMs: number) => Pick<AttemptObservation, 'afterMs' | 'error' | 'statusCode'>
}

const getHost = (number: number) => `background-${number}.example.net`
const specs = Array.from({ length: HOSTS }, (_, i) => ({ type: 'http', url: `https://${getHost(i)}/` }) as CheckSpec)
const ANSWERED = buildObservation(null, 200, null)

/**
 * The other targets of a probe. While nothing is broken, all of them answer, and the answers are recorded later in one step.
 * During a fault, and until each host has answered again, each host is checked in its turn.
 */
export function createBackground({ machine, doubt, isImpaired, attempt }: Parts): Background {
  let doneMs = machine.monotonicMs()
  let isChecking = false
  let untilMs = 0

  function catchUp(): void {
    const now = machine.monotonicMs()
    if (!isChecking) {
      const first = Math.ceil(Math.max(doneMs, now - KEPT_MS) / STEP_MS)
      for (let slot = first; slot * STEP_MS < now; slot++)
        recordReachability(doubt, specs[slot % HOSTS]!, ANSWERED, slot * STEP_MS * 1000, slot * STEP_MS * 1000)
    }
    doneMs = now
  }

  function check(): void {
    const now = machine.monotonicMs()
    if (isImpaired()) untilMs = now + EVERY_MS + Math.max(...TIMEOUTS_MS)
    if (now > untilMs) {
      isChecking = false
      return
    }
    const number = Math.floor(now / STEP_MS) % HOSTS
    const { afterMs, error, statusCode } = attempt(getHost(number), TIMEOUTS_MS[number % TIMEOUTS_MS.length]!)
    const recordAnswer = () => {
      const observation = buildObservation(error, statusCode || null, getHost(number))
      recordReachability(
        doubt,
        specs[number]!,
        observation,
        Math.round(machine.monotonicMs() * 1000),
        Math.round(now * 1000),
      )
    }
    machine.after(afterMs, recordAnswer)
    doneMs = now
    machine.after((Math.floor(now / STEP_MS) + 1) * STEP_MS - now, check)
  }

  return {
    catchUp,
    startChecking() {
      if (isChecking || !isImpaired()) return
      catchUp()
      isChecking = true
      check()
    },
  }
}
