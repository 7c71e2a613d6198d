import { FailureSource, type Timings } from '../checks/result.ts'
import type { DeadlineSignal } from './deadline.ts'
import { createInternalFailure, DeadlineExceededError, EgressFailure } from './failure.ts'
import { nowUs } from './monotonic.ts'

type Phase = keyof Timings

/**
 * Measures the phases of one request, including redirects, and cancels the current stage when the deadline passes. One abort
 * listener serves all stages, because a listener per stage is expensive at thousands of checks a second.
 */
export type PhaseTimer = {
  timings: Timings
  phase: Phase
  startedUs: number
  markUs: number
  signal: DeadlineSignal
  /** called when the deadline passes during the current stage */
  cancel: ((failure: EgressFailure) => void) | null
  onAbort: () => void
}

export function startPhaseTimer(signal: DeadlineSignal, phase: Phase): PhaseTimer {
  const now = nowUs()
  const phases: PhaseTimer = {
    timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 },
    phase,
    startedUs: now,
    markUs: now,
    signal,
    cancel: null,
    onAbort: () => phases.cancel?.(createAbortFailure(phases)),
  }
  signal.addEventListener('abort', phases.onAbort)
  return phases
}

/** Adds the time since the last call to the current phase and starts the next one. */
export function enterPhase(phases: PhaseTimer, next: Phase): void {
  const now = nowUs()
  phases.timings[phases.phase] += now - phases.markUs
  phases.markUs = now
  phases.phase = next
}

/** Ends the measurement. Returns the total in microseconds, which is exactly the sum of the phases. */
export function finishPhases(phases: PhaseTimer): number {
  enterPhase(phases, phases.phase)
  phases.cancel = null
  phases.signal.removeEventListener('abort', phases.onAbort)
  return phases.markUs - phases.startedUs
}

export function throwIfAborted(phases: PhaseTimer): void {
  if (phases.signal.aborted) throw createAbortFailure(phases)
}

/** Waits for work that cannot be cancelled, at most until the deadline. */
export function waitWithDeadline<T>(phases: PhaseTimer, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    phases.cancel = reject
    work.then(resolve, reject)
  })
}

const PHASE_ACTIVITIES: Record<Phase, string> = {
  dnsUs: 'resolving the name',
  connectUs: 'connecting',
  tlsUs: 'negotiating TLS',
  firstByteUs: 'waiting for the response',
  transferUs: 'receiving the response',
}

function createAbortFailure(phases: PhaseTimer): EgressFailure {
  if (!(phases.signal.reason instanceof DeadlineExceededError))
    return createInternalFailure('aborted', 'the check was cancelled')
  const source = phases.phase === 'dnsUs' ? FailureSource.RESOLVER : FailureSource.TARGET
  return new EgressFailure(source, 'timeout', `timed out while ${PHASE_ACTIVITIES[phases.phase]}`)
}
