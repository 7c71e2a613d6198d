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

/** Work on late results that may take several rounds: the days that are left, and the last monitor of the first one that is done. */
type LateWork = { recorded: RecordedRange; days: number[]; after: string }

type HourlyProgress = Awaited<ReturnType<typeof loadHourlyProgress>>
type HourlyWork = { clickhouse: Clickhouse; monitorsAtOnce?: number | undefined }

/** Starts the loop of `createHourlyRound`. Any number of processes may run it: repeating a portion changes nothing. */
export function startHourlyWorker({ clickhouse, monitorsAtOnce, ...tools }: LoopTools & HourlyWork): Loop {
  return startLoop('hourly', INTERVAL_MS, tools, createHourlyRound({ clickhouse, monitorsAtOnce }))
}

/**
 * Returns a round that computes the hourly figures of each day once, in portions, an hour after its end
 * (docs/design/history.md#hourly-figures), and looks for late results of computed days and computes the hours of their
 * monitors again. A round computes one portion of the day that is due, then all late results, then more of that day. Work
 * that does not fit is continued by the next round.
 */
export function createHourlyRound({ clickhouse, monitorsAtOnce = MAX_MONITORS_PER_PORTION }: HourlyWork) {
  let limit = monitorsAtOnce
  let checkedUntilMs: number | null = null
  let late: LateWork | null = null
  /** the day that is being computed, and the last monitor that is done */
  let current = { dayMs: 0, after: FIRST_MONITOR_ID }

  const compute = async (dayMs: number, after: string, recorded: RecordedRange | null) => {
    try {
      const last = await computeNextMonitors(clickhouse, { dayMs, after, limit }, recorded)
      if (last !== null) limit = Math.min(monitorsAtOnce, limit + (limit >> 2))
      return last
    } catch (error) {
      limit = Math.max(MIN_MONITORS_PER_PORTION, limit >> 1)
      throw error
    }
  }

  const isDue = (nowMs: number) => current.dayMs + DAY_MS + CLOSE_AFTER_MS <= nowMs

  /** Computes the next portion of the day that is due. */
  const computeDue = async () => {
    const last = await compute(current.dayMs, current.after, null)
    if (last !== null) current.after = last
    else {
      current = { dayMs: current.dayMs + DAY_MS, after: FIRST_MONITOR_ID }
      await saveProgress(clickhouse, 'closed_until', current.dayMs)
    }
  }

  /**
   * Finds the late results since the last time. A day that is due is included: this or another process may have computed
   * its first monitors. Results that arrive while the work goes on are in the next range.
   */
  const findLateWork = async ({ nowMs, lateMs }: HourlyProgress): Promise<LateWork> => {
    const recorded = { fromMs: (checkedUntilMs ?? lateMs) - OVERLAP_MS, toMs: nowMs }
    const untilMs = isDue(nowMs) ? current.dayMs + DAY_MS : current.dayMs
    return { recorded, days: await findLateDays(clickhouse, recorded, untilMs), after: FIRST_MONITOR_ID }
  }

  /** Continues the work on late results. */
  const computeLate = async (signal: AbortSignal, progress: HourlyProgress) => {
    if (signal.aborted) return
    late ??= await findLateWork(progress)
    const { recorded, days } = late
    while (days.length > 0) {
      if (signal.aborted) return
      const last = await compute(days[0]!, late.after, recorded)
      late.after = last ?? FIRST_MONITOR_ID
      if (last === null) days.shift()
    }
    late = null
    checkedUntilMs = recorded.toMs
    if (checkedUntilMs - progress.lateMs > SAVE_AFTER_MS) await saveProgress(clickhouse, 'late_until', checkedUntilMs)
  }

  return async (signal: AbortSignal): Promise<void> => {
    const progress = await loadHourlyProgress(clickhouse)
    const { nowMs, closedMs } = progress
    if (current.dayMs < closedMs) current = { dayMs: closedMs, after: FIRST_MONITOR_ID }
    try {
      if (isDue(nowMs) && !signal.aborted) await computeDue()
    } finally {
      // a day that cannot be computed does not delay the late results of others
      await computeLate(signal, progress)
    }
    for (let i = 1; i < MAX_PORTIONS_PER_ROUND && isDue(nowMs) && !signal.aborted; i++) await computeDue()
  }
}
