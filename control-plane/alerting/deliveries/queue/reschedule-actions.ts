import { createSetBackDetector, monotonicMs, now } from '../../../foundation/platform/time/clock.ts'
import type { SendContext } from '../context.ts'
import { rescheduleAfterClockStep } from './clock-step-store.ts'

/**
 * How long rows may still be written with a time from before the step: a transaction that began before it may commit later,
 * and other processes notice the step up to seconds later.
 */
const SETTLING_MS = 60_000
const RESCHEDULE_INTERVAL_MS = 1_000

/**
 * Returns a function to be called before each claim. After PostgreSQL's clock was set back it reschedules deliveries, and
 * again each second for a minute. So it does at the start of a process: the clock may have been set back while none ran.
 * The function returns in how many ms it must be called again, or null when that is not necessary.
 */
export function createRescheduler(
  { db, log, timing }: Pick<SendContext, 'db' | 'log' | 'timing'>,
  clock = { hasBeenSetBack: createSetBackDetector(), monotonicMs },
): () => Promise<number | null> {
  let isDue = false
  let rescheduledMs = Number.NEGATIVE_INFINITY
  let settledMs = Number.NEGATIVE_INFINITY
  return async () => {
    isDue ||= clock.hasBeenSetBack()
    const startedMs = clock.monotonicMs()
    if (!isDue && (startedMs >= settledMs || startedMs - rescheduledMs < RESCHEDULE_INTERVAL_MS)) return null
    let lanes = 0
    for (;;) {
      const changed = await db.transaction(tx => rescheduleAfterClockStep(tx, now(), timing.leaseMs))
      if (changed === 0) break
      lanes += changed
    }
    if (lanes > 0) log.warn({ lanes }, 'the clock was set back; deferred deliveries were rescheduled')
    rescheduledMs = clock.monotonicMs()
    if (isDue) settledMs = rescheduledMs + SETTLING_MS
    isDue = false
    return rescheduledMs < settledMs ? RESCHEDULE_INTERVAL_MS : null
  }
}
