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
/** Rows become visible shortly after their `recorded_at`. */
const OVERLAP_MS = 120_000
/** The old table is dropped after all inserts that began before the swap have ended. */
const DROP_AFTER_MS = 600_000
const FIRST_SPAN_MS = 60_000
const MIN_SPAN_MS = 1_000
const MAX_SPAN_MS = 24 * 3_600_000
const SLOW_COPY_MS = 5_000
const MAX_STEPS_PER_ROUND = 20

/**
 * Migrates the results of an installation from before daily partitions (docs/design/history.md#daily-partitions):
 * 1. Copy results by their time of recording, while everything reads and writes the old table.
 * 2. Swap the tables.
 * 3. Copy the results that arrived meanwhile.
 * 4. Ten minutes later, copy the rows of inserts that were in progress, and drop the old table.
 * A restart continues where it was. Any number of processes may run it: copying twice changes nothing.
 */
export function startPartitionMigrationWorker({
  clickhouse,
  dropAfterMs = DROP_AFTER_MS,
  ...tools
}: LoopTools & { clickhouse: Clickhouse; dropAfterMs?: number }): Loop {
  let spanMs = FIRST_SPAN_MS
  let isDone = false
  let rest: RemainingCopy | null = null
  /** by the monotonic clock: until then there is nothing to do */
  let idleUntilMs = Number.NEGATIVE_INFINITY

  /** Copies some portions of a few seconds each. Returns the time up to which it copied. */
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
    tools.log.info({ event: 'daily-partitions' }, 'results now have daily partitions; the newest rows are being copied')
  }

  /**
   * Runs twice: right after the swap, and when no earlier insert can be in progress. Returns whether more work is due
   * now.
   */
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

  const computeDropDelayMs = ({ nowMs, swappedMs }: PartitionMigration) =>
    Math.min(Math.max(0, (swappedMs ?? 0) + dropAfterMs - nowMs), dropAfterMs)

  const loop = startLoop('daily-partitions', INTERVAL_MS, tools, async signal => {
    if (isDone || monotonicMs() < idleUntilMs) return
    const migration = await loadPartitionMigration(clickhouse)
    if (!migration.isDaily) {
      await copyAndSwap(signal, migration)
      loop.wake()
    } else if (!migration.hasWeekly) {
      await dropMigrationTables(clickhouse)
      isDone = true
    } else if (await copyRest(signal, migration)) loop.wake()
    else idleUntilMs = monotonicMs() + computeDropDelayMs(migration)
  })
  return loop
}

/** How far the old table is copied after the swap. */
type RemainingCopy = { isLast: boolean; doneMs: number; endMs: number }
