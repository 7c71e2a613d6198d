/** A channel with so many failed deliveries in a row is paused (specification, "Delivery and retries" 5). */
export const PAUSE_AFTER_FAILURES = 50

/** A mail address that refuses so many is dead: going on would cost the sender's name with its mail server. */
export const PAUSE_ADDRESS_AFTER_FAILURES = 10

export type FailureCount = { consecutiveFailures: number; pausedReason: string | null }

/**
 * A channel's count after deliveries ended, in the order in which they did. Deliveries count, not attempts, and one
 * success clears them (decisions 6.3).
 */
export function countFailures(
  consecutiveFailures: number,
  succeeded: boolean[],
  pauseAfter = PAUSE_AFTER_FAILURES,
): FailureCount {
  let count = consecutiveFailures
  let mostInARow = count
  for (const success of succeeded) {
    count = success ? 0 : count + 1
    mostInARow = Math.max(mostInARow, count)
  }
  const pausedReason =
    mostInARow >= pauseAfter ? `${mostInARow} deliveries in a row failed; resume the channel once it answers` : null
  return { consecutiveFailures: count, pausedReason }
}
