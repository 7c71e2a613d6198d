import { swapResults } from '../../../foundation/migrations/clickhouse/daily-partitions-store.ts'
import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { saveProgress } from './hourly-store.ts'
import {
  copyResults,
  dropMigrationTables,
  findOldestRecordedMs,
  loadPartitionMigration,
  type PartitionMigration,
  type ResultsTable,
} from './partition-migration-store.ts'

const INTERVAL_MS = 10_000
/** Rows become visible a little after the time they carry. */
const OVERLAP_MS = 120_000
/** An insert that began before the swap ends in the old table. */
const DROP_AFTER_MS = 600_000
const FIRST_SPAN_MS = 60_000
const MIN_SPAN_MS = 1_000
const MAX_SPAN_MS = 24 * 3_600_000
const SLOW_COPY_MS = 5_000
const MAX_STEPS_PER_ROUND = 20

/**
 * Moves results of the time before daily partitions: copies them by the time of their recording while everything reads
 * and writes the old table, swaps the tables, copies what came meanwhile, and ten minutes later, once more, what inserts
 * under way had left in the old table, which is dropped then. It goes on after a restart where it was, and does nothing
 * when there is nothing to move. Any number of processes may run it: copying twice changes nothing.
 */
export function startPartitionMigrationWorker({
  clickhouse,
  dropAfterMs = DROP_AFTER_MS,
  ...tools
}: LoopTools & { clickhouse: Clickhouse; dropAfterMs?: number }): Loop {
  let spanMs = FIRST_SPAN_MS
  let isDone = false
  let rest: RemainingCopy | null = null

  /** Some portions, each of which takes some seconds at most. Answers up to where it got. */
  const copy = async (signal: AbortSignal, from: ResultsTable, fromMs: number, endMs: number) => {
    let doneMs = fromMs
    for (let i = 0; i < MAX_STEPS_PER_ROUND && doneMs < endMs && !signal.aborted; i++) {
      const toMs = Math.min(doneMs + spanMs, endMs)
      const startedMs = monotonicMs()
      await copyResults(clickhouse, from, { fromMs: doneMs, toMs }).catch(error => {
        spanMs = Math.max(MIN_SPAN_MS, spanMs / 4)
        throw error
      })
      const tookMs = monotonicMs() - startedMs
      if (tookMs > SLOW_COPY_MS) spanMs = Math.max(MIN_SPAN_MS, spanMs / 2)
      else if (tookMs < SLOW_COPY_MS / 4) spanMs = Math.min(MAX_SPAN_MS, spanMs * 4)
      doneMs = toMs
      if (from === 'results') await saveProgress(clickhouse, 'moved_until', doneMs)
    }
    return doneMs
  }

  const copyAndSwap = async (signal: AbortSignal, { nowMs, copiedUntilMs: movedMs }: PartitionMigration) => {
    const endMs = nowMs - OVERLAP_MS
    const doneMs = await copy(
      signal,
      'results',
      movedMs ?? (await findOldestRecordedMs(clickhouse, 'results')) ?? endMs,
      endMs,
    )
    if (signal.aborted || doneMs < endMs) return
    await swapResults(clickhouse)
    tools.log.info(
      { event: 'daily-partitions' },
      'results are in partitions of a day; the newest ones are being copied',
    )
  }

  /** Twice: right after the swap, and when no insert can be under way any more. Answers whether there is more to do now. */
  const copyRest = async (
    signal: AbortSignal,
    { nowMs, copiedUntilMs: movedMs, swappedMs }: PartitionMigration,
  ): Promise<boolean> => {
    const isLast = nowMs - (swappedMs ?? 0) > dropAfterMs
    if (rest === null || (isLast && !rest.isLast)) {
      const beginMs = movedMs ?? (await findOldestRecordedMs(clickhouse, 'results_weekly')) ?? nowMs
      rest = { isLast, doneMs: beginMs - OVERLAP_MS, endMs: nowMs + OVERLAP_MS }
    }
    rest.doneMs = await copy(signal, 'results_weekly', rest.doneMs, rest.endMs)
    if (signal.aborted || rest.doneMs < rest.endMs) return true
    if (rest.isLast) await dropMigrationTables(clickhouse)
    return rest.isLast
  }

  const loop = startLoop('daily-partitions', INTERVAL_MS, tools, async signal => {
    if (isDone) return
    const move = await loadPartitionMigration(clickhouse)
    if (!move.isDaily) {
      await copyAndSwap(signal, move)
      loop.wake()
    } else if (!move.hasWeekly) {
      await dropMigrationTables(clickhouse)
      isDone = true
    } else if (await copyRest(signal, move)) loop.wake()
  })
  return loop
}

/** How far the old table is looked through after the swap. */
type RemainingCopy = { isLast: boolean; doneMs: number; endMs: number }
