import type { ChannelMessage } from '../../channels/registry.ts'
import type { DeliveryOutcome } from '../types.ts'

/** A channel is paused after this number of failed deliveries in a row (docs/design/deliveries.md#auto-pause). */
export const PAUSE_AFTER_FAILURES = 50

/** A subscriber's mail address is paused after this number of refusals, which protects the reputation of the sender. */
export const PAUSE_ADDRESS_AFTER_FAILURES = 10

/**
 * Whether an ended delivery counts for or against its receiver. A fault of Picket does not, and neither does an error without
 * a response of the mail server: that server is not the receiver's.
 */
export const isAttributable = (
  via: ChannelMessage['via'],
  { responseCode, ownFault }: Pick<DeliveryOutcome, 'responseCode' | 'ownFault'>,
): boolean => ownFault === undefined && (via === 'http' || responseCode !== null)

type FailureCount = { consecutiveFailures: number; pausedReason: string | null }

/** A channel's count after deliveries ended, in the given order. Deliveries count, not attempts; a success resets the count. */
export function countFailures(
  consecutiveFailures: number,
  succeeded: boolean[],
  pauseAfter = PAUSE_AFTER_FAILURES,
): FailureCount {
  let count = consecutiveFailures
  let maxInARow = count
  for (const success of succeeded) {
    count = success ? 0 : count + 1
    maxInARow = Math.max(maxInARow, count)
  }
  const pausedReason =
    maxInARow >= pauseAfter
      ? `${maxInARow} deliveries in a row failed; resume the channel when its receiver works again`
      : null
  return { consecutiveFailures: count, pausedReason }
}
