import { type Clickhouse, select } from '../../../foundation/platform/clickhouse.ts'

export type PartitionMigration = {
  /** ClickHouse's clock */
  nowMs: number
  isDaily: boolean
  /** the old table still exists */
  hasWeekly: boolean
  /** all results recorded before this are copied; null: none yet */
  copiedUntilMs: number | null
  /** when the tables were swapped; null: not yet, or there was nothing to copy */
  swappedMs: number | null
}

export async function loadPartitionMigration(clickhouse: Clickhouse): Promise<PartitionMigration> {
  const [row] = await select<Record<'now' | 'daily' | 'weekly' | 'moved' | 'swapped', string>>(
    clickhouse,
    `SELECT toUnixTimestamp64Milli(now64(3)) AS now,
       (SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'results'
          AND partition_key = 'toDate(scheduled_at)') AS daily,
       (SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'results_weekly') AS weekly,
       toUnixTimestamp64Milli(maxIf(at, name = 'moved_until')) AS moved,
       toUnixTimestamp64Milli(maxIf(at, name = 'swapped_at')) AS swapped
     FROM progress`,
  )
  return {
    nowMs: Number(row!.now),
    isDaily: Number(row!.daily) > 0,
    hasWeekly: Number(row!.weekly) > 0,
    copiedUntilMs: Number(row!.moved) || null,
    swappedMs: Number(row!.swapped) || null,
  }
}

/** The source table: `results` before the swap, `results_weekly` after it. */
export type ResultsTable = 'results' | 'results_weekly'

/** When the oldest result was recorded; null when there is none. */
export async function findOldestRecordedMs(clickhouse: Clickhouse, from: ResultsTable): Promise<number | null> {
  const query = `SELECT toUnixTimestamp64Milli(min(recorded_at)) AS ms FROM ${from}`
  return Number((await select<{ ms: string }>(clickhouse, query))[0]?.ms) || null
}

/**
 * Copies results recorded from `fromMs` until before `toMs` to the other table, with their `recorded_at`. Expired
 * results and those of future days are left out. Repeating it changes nothing: equal keys are one result.
 */
export async function copyResults(
  clickhouse: Clickhouse,
  from: ResultsTable,
  span: { fromMs: number; toMs: number },
): Promise<void> {
  const to = from === 'results' ? 'results_daily' : 'results'
  await clickhouse.command({
    query: `INSERT INTO ${to} SELECT * FROM ${from}
      WHERE recorded_at >= fromUnixTimestamp64Milli({fromMs:Int64}) AND recorded_at < fromUnixTimestamp64Milli({toMs:Int64})
        AND scheduled_at > now() - INTERVAL 90 DAY AND scheduled_at < now() + INTERVAL 1 DAY
      SETTINGS max_execution_time = 25, max_threads = 1, max_partitions_per_insert_block = 200`,
    query_params: span,
  })
}

/** Drops the remaining tables: the old one, and the one that a late process may have created for copies. */
export async function dropMigrationTables(clickhouse: Clickhouse): Promise<void> {
  await clickhouse.command({ query: 'DROP TABLE IF EXISTS results_weekly' })
  await clickhouse.command({ query: 'DROP TABLE IF EXISTS results_daily' })
}
