import type { Clickhouse } from '../platform/clickhouse.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import { computeNext, FIRST_MONITOR, lateDays, type Recorded, readProgress, saveProgress } from './hourly-store.ts'

const EVERY_MS = 60_000
const DAY_MS = 24 * 3_600_000
/** A day is computed once, when most of what comes late is there and its parts are merged. */
const CLOSE_AFTER_MS = 3_600_000
/** Rows become visible a little after the time they carry; the last stretch is looked at twice. */
const OVERLAP_MS = 120_000
/** A process that starts looks so much further back. */
const SAVE_AFTER_MS = 600_000
/** At 30 s and six regions they have 8.6 million results a day: one statement reads them in a second or two. */
const MONITORS_AT_ONCE = 500
/** So that one round stays short; the next one goes on. */
const PORTIONS_A_ROUND = 20

/** After a portion that failed the next ones are smaller. */
const LEAST_MONITORS = 10

/**
 * Computes the hourly figures of each day once, in portions, an hour after its end; until then they are read from the
 * results. Later results of a day are looked for every minute, and their monitors' hours of that day computed again. Any
 * number of processes may run it: repeating a portion changes nothing.
 */
export function startHourlyWorker({
  clickhouse,
  monitorsAtOnce = MONITORS_AT_ONCE,
  ...tools
}: LoopTools & { clickhouse: Clickhouse; monitorsAtOnce?: number }): Loop {
  let limit = monitorsAtOnce
  let lookedUntilMs: number | null = null
  /** the day that is being computed, and its last monitor that is done */
  let current = { dayMs: 0, after: FIRST_MONITOR }

  const compute = async (dayMs: number, after: string, recorded: Recorded | null) => {
    try {
      return await computeNext(clickhouse, { dayMs, after, limit }, recorded)
    } catch (error) {
      limit = Math.max(LEAST_MONITORS, limit >> 1)
      throw error
    }
  }

  /** Also of the day that is being computed: its first monitors may be done. */
  const computeLate = async (signal: AbortSignal, recorded: Recorded, closedMs: number) => {
    const isBegun = current.dayMs === closedMs && current.after !== FIRST_MONITOR
    for (const dayMs of await lateDays(clickhouse, recorded, isBegun ? closedMs + DAY_MS : closedMs)) {
      let after: string | null = FIRST_MONITOR
      while (after !== null && !signal.aborted) after = await compute(dayMs, after, recorded)
    }
  }

  return startLoop('hourly', EVERY_MS, tools, async signal => {
    const { nowMs, closedMs, lateMs } = await readProgress(clickhouse)
    await computeLate(signal, { fromMs: (lookedUntilMs ?? lateMs) - OVERLAP_MS, toMs: nowMs }, closedMs)
    if (signal.aborted) return
    lookedUntilMs = nowMs
    if (nowMs - lateMs > SAVE_AFTER_MS) await saveProgress(clickhouse, 'late_until', nowMs)

    if (current.dayMs < closedMs) current = { dayMs: closedMs, after: FIRST_MONITOR }
    for (let i = 0; i < PORTIONS_A_ROUND && !signal.aborted; i++) {
      if (current.dayMs + DAY_MS + CLOSE_AFTER_MS > nowMs) return
      const last = await compute(current.dayMs, current.after, null)
      if (last !== null) current.after = last
      else {
        current = { dayMs: current.dayMs + DAY_MS, after: FIRST_MONITOR }
        await saveProgress(clickhouse, 'closed_until', current.dayMs)
      }
    }
  })
}
