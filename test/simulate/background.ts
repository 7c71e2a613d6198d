import type { Machine } from '../../probe-agent/clock.ts'
import type { DoubtDetector } from '../../probe-agent/execution/own-faults/doubt.ts'
import { recordReachability } from '../../probe-agent/execution/own-faults/reachability.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource } from '../../shared/checks/result.ts'
import type { AttemptObservation } from './targets.ts'

/** Each probe checks so many more targets, each on a host of its own. */
const HOSTS = 300
const EVERY_MS = 30_000
const STEP_MS = EVERY_MS / HOSTS
const TIMEOUTS_MS = [10_000, 5_000, 10_000, 30_000]
/** What is older plays no part in a doubt. */
const KEPT_MS = 11 * 60_000
const TIMINGS = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
const NOTHING = { headers: null, body: null, certificate: null, totalUs: 0, timings: TIMINGS }

/** The observation of an attempt as far as the doubt reads it. */
export const observationOf = (error: CheckError | null, statusCode: number | null, address: string | null) => ({
  ...NOTHING,
  error,
  statusCode,
  resolvedIp: error?.source === FailureSource.RESOLVER ? null : address,
})

export type Background = {
  /** Call it before anything else reaches the doubt: the hosts that answered in between. */
  catchUp: () => void
  /** Something may be broken from now on. */
  look: () => void
}

type Parts = {
  machine: Machine
  doubt: DoubtDetector
  /** whether a host may be out of reach now */
  isInTrouble: () => boolean
  /** the result of an attempt on a host */
  attempt: (host: string, timeoutMs: number) => Pick<AttemptObservation, 'afterMs' | 'error' | 'statusCode'>
}

const hostOf = (number: number) => `background-${number}.example.net`
const specs = Array.from({ length: HOSTS }, (_, i) => ({ type: 'http', url: `https://${hostOf(i)}/` }) as CheckSpec)
const ANSWERED = observationOf(null, 200, null)

/**
 * The other targets of a probe. While nothing is broken all of them answer, which is made up for when it matters; in trouble,
 * and until each has answered again, each is checked in its turn.
 */
export function createBackground({ machine, doubt, isInTrouble, attempt }: Parts): Background {
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
    if (isInTrouble()) untilMs = now + EVERY_MS + Math.max(...TIMEOUTS_MS)
    if (now > untilMs) {
      isChecking = false
      return
    }
    const number = Math.floor(now / STEP_MS) % HOSTS
    const { afterMs, error, statusCode } = attempt(hostOf(number), TIMEOUTS_MS[number % TIMEOUTS_MS.length]!)
    const note = () => {
      const observation = observationOf(error, statusCode || null, hostOf(number))
      recordReachability(
        doubt,
        specs[number]!,
        observation,
        Math.round(machine.monotonicMs() * 1000),
        Math.round(now * 1000),
      )
    }
    machine.after(afterMs, note)
    doneMs = now
    machine.after((Math.floor(now / STEP_MS) + 1) * STEP_MS - now, check)
  }

  return {
    catchUp,
    look() {
      if (isChecking || !isInTrouble()) return
      catchUp()
      isChecking = true
      check()
    },
  }
}
