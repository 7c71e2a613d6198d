import type { DeliveryOutcome } from '../types.ts'

/** A circuit opens after this number of failures in a row. One trial is made after the interval, counted from the opening or from a failed trial. */
const FAILURE_THRESHOLD = 5
const TRIAL_INTERVAL_MS = 60_000

export const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const

/** The circuit breaker of one destination (docs/design/deliveries.md#relay). Closed: `openedAt` and `nextTrialAt` are null. */
export type CircuitBreaker = { consecutiveFailures: number; openedAt: Date | null; nextTrialAt: Date | null }

/** Open: nothing is sent. Half-open: one message is tried. */
export function getCircuitState({ openedAt, nextTrialAt }: CircuitBreaker, now: Date): (typeof CIRCUIT_STATES)[number] {
  if (openedAt === null || nextTrialAt === null) return 'closed'
  return nextTrialAt <= now ? 'half_open' : 'open'
}

/**
 * The circuit after an attempt. A temporary error (5xx, 429, a time-out, a network error) is a failure. Every other
 * response closes the circuit, also a refusal of the message. A fault of Picket says nothing about the destination.
 */
export function updateCircuit(circuit: CircuitBreaker, outcome: DeliveryOutcome, now: Date): CircuitBreaker {
  if (outcome.ownFault) return circuit
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
      // it was sent before the circuit opened
      return { ...circuit, consecutiveFailures }
  }
}

function isFailure({ responseCode, isPermanent }: DeliveryOutcome): boolean {
  return !isPermanent && (responseCode === null || responseCode < 200 || responseCode >= 300)
}
