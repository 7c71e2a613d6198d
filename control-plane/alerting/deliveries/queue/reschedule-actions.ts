import { type Db, isLockTimeout, setLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import { createSetBackDetector, monotonicMs, now } from '../../../foundation/platform/time/clock.ts'
import type { SendContext } from '../context.ts'
import { rescheduleAfterClockStep } from './clock-step-store.ts'

/**
 * How long rows may still be written with a time from before the step: a transaction that began before it may commit later,
 * and other processes notice the step some seconds later.
 */
const SETTLING_MS = 60_000
const MIN_INTERVAL_MS = 1_000
/** A pass reads all that is pending, so passes may take a tenth of the time. */
const INTERVAL_PER_PASS = 10
/** A channel that is being deleted is left to the next pass. */
const LOCK_TIMEOUT_MS = 100

/**
 * Returns a function to be called before each claim. After PostgreSQL's clock was set back it reschedules deliveries, and
 * again each second for a minute. So it does at the start of a process: the clock may have been set back while none ran.
 * The function returns in how many ms it must be called again, or null when that is not necessary.
 */
export function createRescheduler(
  { db, log, timing }: Pick<SendContext, 'db' | 'log' | 'timing'>,
  clock = { hasBeenSetBack: createSetBackDetector(), monotonicMs },
): (signal: AbortSignal) => Promise<number | null> {
  let isDue = false
  let nextMs = 0
  let settledMs = Number.NEGATIVE_INFINITY
  return async signal => {
    isDue ||= clock.hasBeenSetBack()
    const startedMs = clock.monotonicMs()
    if (!isDue && (startedMs < nextMs || startedMs >= settledMs)) return null
    const lanes = await rescheduleAll(db, timing.leaseMs, signal)
    if (lanes > 0) log.warn({ lanes }, 'the clock was set back; deferred deliveries were rescheduled')
    const endedMs = clock.monotonicMs()
    if (isDue) settledMs = endedMs + SETTLING_MS
    // the rest follows in the next round
    isDue = signal.aborted
    const waitMs = Math.max(MIN_INTERVAL_MS, INTERVAL_PER_PASS * (endedMs - startedMs))
    nextMs = endedMs + waitMs
    return nextMs < settledMs ? waitMs : null
  }
}

/** Returns how many lanes were changed. */
async function rescheduleAll(db: Db, leaseMs: number, signal: AbortSignal): Promise<number> {
  let lanes = 0
  try {
    while (!signal.aborted) {
      const changed = await db.transaction(async tx => {
        await setLockTimeout(tx, LOCK_TIMEOUT_MS)
        return rescheduleAfterClockStep(tx, now(), leaseMs)
      })
      if (changed === 0) break
      lanes += changed
    }
  } catch (error) {
    if (!isLockTimeout(error)) throw error
  }
  return lanes
}
