import type { Outcome } from './types.ts'

/** A circuit opens after so many failures in a row, and takes one trial so long after it opened or a trial failed. */
const OPENS_AFTER_FAILURES = 5
const TRIAL_AFTER_MS = 60_000

export const CIRCUIT_STATES = ['closed', 'open', 'half_open'] as const

/** The breaker of one destination (decisions 6.6). `openedAt` null: closed, and then `nextTrialAt` is null as well. */
export type Circuit = { consecutiveFailures: number; openedAt: Date | null; nextTrialAt: Date | null }

/** Open: nothing is sent. Half-open: one message is tried. */
export function stateOf({ openedAt, nextTrialAt }: Circuit, now: Date): (typeof CIRCUIT_STATES)[number] {
  if (openedAt === null || nextTrialAt === null) return 'closed'
  return nextTrialAt <= now ? 'half_open' : 'open'
}

/**
 * The circuit after an attempt. Whatever the destination decides about a message is an answer and closes the circuit;
 * what may pass by itself (5xx, 429, a timeout, a network error) is a failure.
 */
export function afterAttempt(circuit: Circuit, outcome: Outcome, now: Date): Circuit {
  if (!isFailure(outcome)) return { consecutiveFailures: 0, openedAt: null, nextTrialAt: null }
  const consecutiveFailures = circuit.consecutiveFailures + 1
  const nextTrialAt = new Date(now.getTime() + TRIAL_AFTER_MS)
  switch (stateOf(circuit, now)) {
    case 'closed':
      if (consecutiveFailures < OPENS_AFTER_FAILURES) return { ...circuit, consecutiveFailures }
      return { consecutiveFailures, openedAt: now, nextTrialAt }
    case 'half_open':
      return { ...circuit, consecutiveFailures, nextTrialAt }
    case 'open':
      // sent before it opened
      return { ...circuit, consecutiveFailures }
  }
}

function isFailure({ responseCode, isPermanent }: Outcome): boolean {
  return !isPermanent && (responseCode === null || responseCode < 200 || responseCode >= 300)
}
