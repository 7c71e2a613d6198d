import type { Db } from '../../foundation/platform/postgres/client.ts'
import { createSetBackDetector, monotonicMs } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { PLANNED_WAITS } from './planned-waits.ts'
import { shortenWaits } from './store.ts'

const CHECK_INTERVAL_MS = 2_000
/** Passes after the first one: for rows of transactions that began before the step and committed later, and for locked rows. */
const REPEAT_AFTER_MS = [5_000, 60_000]

/**
 * When PostgreSQL's clock was set back, and at the start of a process, shortens the waits of work that was planned while
 * the clock was ahead: the longest wait counts from now. See docs/design/loops.md#clock-steps.
 */
export function startClockStepWorker({
  db,
  config,
  ...tools
}: LoopTools & { db: Db; config: { vendorIntervalSeconds: number } }): Loop {
  const hasBeenSetBack = createSetBackDetector()
  /** by the monotonic clock, in ms */
  let dueMs: number[] = []
  return startLoop('clock-steps', CHECK_INTERVAL_MS, tools, async () => {
    const nowMs = monotonicMs()
    if (hasBeenSetBack()) dueMs = [nowMs, ...REPEAT_AFTER_MS.map(ms => nowMs + ms)]
    if (!dueMs.some(ms => ms <= nowMs)) return
    for (const wait of PLANNED_WAITS) {
      const rows = await shortenWaits(db, wait, { vendorSeconds: config.vendorIntervalSeconds })
      if (rows > 0) tools.log.warn({ table: wait.table, rows }, 'the clock was set back: deferred work was rescheduled')
    }
    dueMs = dueMs.filter(ms => ms > nowMs)
  })
}
