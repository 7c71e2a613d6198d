import { FailureSource, type Timings } from '../checks/result.ts'
import type { DeadlineSignal } from './deadline.ts'
import { createInternalFailure, DeadlineExceeded, EgressFailure } from './failure.ts'
import { nowUs } from './monotonic.ts'

export type Phase = keyof Timings

/**
 * One way to a target and back, redirects included: where the time goes, and what to call off when the deadline comes.
 * One abort listener serves all its stages, because a listener a stage is dear at thousands of checks a second.
 */
export type PhaseTimer = {
  timings: Timings
  phase: Phase
  startedUs: number
  markUs: number
  signal: DeadlineSignal
  /** what the present stage does when the deadline comes */
  cancel: ((failure: EgressFailure) => void) | null
  onAbort: () => void
}

export function startPhaseTimer(signal: DeadlineSignal, phase: Phase): PhaseTimer {
  const now = nowUs()
  const trip: PhaseTimer = {
    timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 },
    phase,
    startedUs: now,
    markUs: now,
    signal,
    cancel: null,
    onAbort: () => trip.cancel?.(createAbortFailure(trip)),
  }
  signal.addEventListener('abort', trip.onAbort)
  return trip
}

/** Gives the time since the last call to the present phase and goes on with the next one. */
export function enterPhase(trip: PhaseTimer, next: Phase): void {
  const now = nowUs()
  trip.timings[trip.phase] += now - trip.markUs
  trip.markUs = now
  trip.phase = next
}

/** Ends the trip. Answers its whole time in microseconds, which is exactly the sum of its phases. */
export function finishPhases(trip: PhaseTimer): number {
  enterPhase(trip, trip.phase)
  trip.cancel = null
  trip.signal.removeEventListener('abort', trip.onAbort)
  return trip.markUs - trip.startedUs
}

export function throwIfAborted(trip: PhaseTimer): void {
  if (trip.signal.aborted) throw createAbortFailure(trip)
}

/** Waits for work that cannot be called off itself, no longer than the deadline. */
export function waitWithDeadline<T>(trip: PhaseTimer, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    trip.cancel = reject
    work.then(resolve, reject)
  })
}

const PHASE_ACTIVITIES: Record<Phase, string> = {
  dnsUs: 'resolving the name',
  connectUs: 'connecting',
  tlsUs: 'negotiating TLS',
  firstByteUs: 'waiting for the answer',
  transferUs: 'receiving the answer',
}

function createAbortFailure(trip: PhaseTimer): EgressFailure {
  if (!(trip.signal.reason instanceof DeadlineExceeded))
    return createInternalFailure('aborted', 'the check was called off')
  const source = trip.phase === 'dnsUs' ? FailureSource.RESOLVER : FailureSource.TARGET
  return new EgressFailure(source, 'timeout', `timed out while ${PHASE_ACTIVITIES[trip.phase]}`)
}
