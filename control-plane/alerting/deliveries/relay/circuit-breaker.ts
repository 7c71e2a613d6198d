import type { DeliveryOutcome } from '../types.ts'

/** A circuit opens after so many failures in a row, and takes one trial so long after it opened or a trial failed. */
const FAILURE_THRESHOLD = 5
const TRIAL_INTERVAL_MS = 60_000

export const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const

/** The breaker of one destination (decisions 6.6). `openedAt` null: closed, and then `nextTrialAt` is null as well. */
export type CircuitBreaker = { consecutiveFailures: number; openedAt: Date | null; nextTrialAt: Date | null }

/** Open: nothing is sent. Half-open: one message is tried. */
export function getCircuitState({ openedAt, nextTrialAt }: CircuitBreaker, now: Date): (typeof CIRCUIT_STATES)[number] {
  if (openedAt === null || nextTrialAt === null) return 'closed'
  return nextTrialAt <= now ? 'half_open' : 'open'
}

/**
 * The circuit after an attempt. Whatever the destination decides about a message is an answer and closes the circuit;
 * what may pass by itself (5xx, 429, a timeout, a network error) is a failure.
 */
export function updateCircuit(circuit: CircuitBreaker, outcome: DeliveryOutcome, now: Date): CircuitBreaker {
  if (!isFailure(outcome)) return { consecutiveFailures: 0, openedAt: null, nextTrialAt: null }
  const consecutiveFailures = circuit.consecutiveFailures + 1
  const nextTrialAt = new Date(now.getTime() + TRIAL_INTERVAL_MS)
  switch (getCircuitState(circuit, now)) {
    case 'closed':
      if (consecutiveFailures < FAILURE_THRESHOLD) return { ...circuit, consecutiveFailures }
      return { consecutiveFailures, openedAt: now, nextTrialAt }
    case 'half_open':
      return { ...circuit, consecutiveFailures, nextTrialAt }
    case 'open':
      // sent before it opened
      return { ...circuit, consecutiveFailures }
  }
}

function isFailure({ responseCode, isPermanent }: DeliveryOutcome): boolean {
  return !isPermanent && (responseCode === null || responseCode < 200 || responseCode >= 300)
}
