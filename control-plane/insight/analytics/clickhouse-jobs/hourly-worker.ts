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
/** A day is computed once, when most of what comes late is there and its parts are merged. */
const CLOSE_AFTER_MS = 3_600_000
/** Rows become visible a little after the time they carry; the last stretch is looked at twice. */
const OVERLAP_MS = 120_000
/** A process that starts looks so much further back. */
const SAVE_AFTER_MS = 600_000
/** At 30 s and six regions they have 8.6 million results a day: one statement reads them in a second or two. */
const MAX_MONITORS_PER_PORTION = 500
/** So that one round stays short; the next one goes on. */
const MAX_PORTIONS_PER_ROUND = 20

/** After a portion that failed the next ones are smaller. */
const MIN_MONITORS_PER_PORTION = 10

/**
 * Computes the hourly figures of each day once, in portions, an hour after its end; until then they are read from the
 * results. Later results of a day are looked for every minute, and their monitors' hours of that day computed again. Any
 * number of processes may run it: repeating a portion changes nothing.
 */
export function startHourlyWorker({
  clickhouse,
  monitorsAtOnce = MAX_MONITORS_PER_PORTION,
  ...tools
}: LoopTools & { clickhouse: Clickhouse; monitorsAtOnce?: number }): Loop {
  let limit = monitorsAtOnce
  let lookedUntilMs: number | null = null
  /** the day that is being computed, and its last monitor that is done */
  let current = { dayMs: 0, after: FIRST_MONITOR_ID }

  const compute = async (dayMs: number, after: string, recorded: RecordedRange | null) => {
    try {
      return await computeNextMonitors(clickhouse, { dayMs, after, limit }, recorded)
    } catch (error) {
      limit = Math.max(MIN_MONITORS_PER_PORTION, limit >> 1)
      throw error
    }
  }

  /** Also of the day that is being computed: its first monitors may be done. */
  const computeLate = async (signal: AbortSignal, recorded: RecordedRange, closedMs: number) => {
    const isBegun = current.dayMs === closedMs && current.after !== FIRST_MONITOR_ID
    for (const dayMs of await findLateDays(clickhouse, recorded, isBegun ? closedMs + DAY_MS : closedMs)) {
      let after: string | null = FIRST_MONITOR_ID
      while (after !== null && !signal.aborted) after = await compute(dayMs, after, recorded)
    }
  }

  return startLoop('hourly', INTERVAL_MS, tools, async signal => {
    const { nowMs, closedMs, lateMs } = await loadHourlyProgress(clickhouse)
    await computeLate(signal, { fromMs: (lookedUntilMs ?? lateMs) - OVERLAP_MS, toMs: nowMs }, closedMs)
    if (signal.aborted) return
    lookedUntilMs = nowMs
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
