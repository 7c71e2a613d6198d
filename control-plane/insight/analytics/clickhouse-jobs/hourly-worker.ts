import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import {
  computeNextMonitors,
  FIRST_MONITOR_ID,
  findLateDays,
  loadHourlyProgress,
  type RecordedRange,
  saveProgress,
} from './hourly-store.ts'

const INTERVAL_MS = 60_000
const DAY_MS = 24 * 3_600_000
/** A day is computed once, after most late results have arrived and its parts are merged. */
const CLOSE_AFTER_MS = 3_600_000
/** Rows become visible shortly after their `recorded_at`, so the last part of a range is read twice. */
const OVERLAP_MS = 120_000
/** How often progress is saved. A process that starts reads this much again at most. */
const SAVE_AFTER_MS = 600_000
/** At 30 s and six regions they have 8.6 million results a day, which one statement reads in one or two seconds. */
const MAX_MONITORS_PER_PORTION = 500
/** Limits the length of a round; the next one continues. */
const MAX_PORTIONS_PER_ROUND = 20

/** The lower limit when portions become smaller after a failure. */
const MIN_MONITORS_PER_PORTION = 10

/**
 * Computes the hourly figures of each day once, in portions, an hour after its end
 * (docs/design/history.md#hourly-figures). Every minute it looks for late results of computed days and computes the
 * hours of their monitors again. Any number of processes may run it: repeating a portion changes nothing.
 */
export function startHourlyWorker({
  clickhouse,
  monitorsAtOnce = MAX_MONITORS_PER_PORTION,
  ...tools
}: LoopTools & { clickhouse: Clickhouse; monitorsAtOnce?: number }): Loop {
  let limit = monitorsAtOnce
  let checkedUntilMs: number | null = null
  /** the day that is being computed, and the last monitor that is done */
  let current = { dayMs: 0, after: FIRST_MONITOR_ID }

  const compute = async (dayMs: number, after: string, recorded: RecordedRange | null) => {
    try {
      return await computeNextMonitors(clickhouse, { dayMs, after, limit }, recorded)
    } catch (error) {
      limit = Math.max(MIN_MONITORS_PER_PORTION, limit >> 1)
      throw error
    }
  }

  /** Includes the day that is being computed: its first monitors may be done. */
  const computeLate = async (signal: AbortSignal, recorded: RecordedRange, closedMs: number) => {
    const isStarted = current.dayMs === closedMs && current.after !== FIRST_MONITOR_ID
    for (const dayMs of await findLateDays(clickhouse, recorded, isStarted ? closedMs + DAY_MS : closedMs)) {
      let after: string | null = FIRST_MONITOR_ID
      while (after !== null && !signal.aborted) after = await compute(dayMs, after, recorded)
    }
  }

  return startLoop('hourly', INTERVAL_MS, tools, async signal => {
    const { nowMs, closedMs, lateMs } = await loadHourlyProgress(clickhouse)
    await computeLate(signal, { fromMs: (checkedUntilMs ?? lateMs) - OVERLAP_MS, toMs: nowMs }, closedMs)
    if (signal.aborted) return
    checkedUntilMs = nowMs
    if (nowMs - lateMs > SAVE_AFTER_MS) await saveProgress(clickhouse, 'late_until', nowMs)

    if (current.dayMs < closedMs) current = { dayMs: closedMs, after: FIRST_MONITOR_ID }
    for (let i = 0; i < MAX_PORTIONS_PER_ROUND && !signal.aborted; i++) {
      if (current.dayMs + DAY_MS + CLOSE_AFTER_MS > nowMs) return
      const last = await compute(current.dayMs, current.after, null)
      if (last !== null) current.after = last
      else {
        current = { dayMs: current.dayMs + DAY_MS, after: FIRST_MONITOR_ID }
        await saveProgress(clickhouse, 'closed_until', current.dayMs)
      }
    }
  })
}
