import { type Clickhouse, select } from '../../platform/clickhouse.ts'
import { hasDailyPartitions, swapResults, waitForDailyPartitions } from './daily-partitions-store.ts'

/**
 * Results in daily partitions, which are dropped as a whole when they are 90 days old. An empty database gets them
 * immediately. Otherwise the results are copied in the background (insight/analytics/clickhouse-jobs) and then the tables
 * are swapped.
 */
export const statements = [
  `CREATE TABLE results_daily AS results
   ENGINE = ReplacingMergeTree
   PARTITION BY toDate(scheduled_at)
   ORDER BY (monitor_id, scheduled_at, region, attempt, probe_id, epoch)
   TTL toDateTime(scheduled_at) + INTERVAL 90 DAY
   SETTINGS ttl_only_drop_parts = 1`,
]

export async function finish(clickhouse: Clickhouse): Promise<void> {
  if (await hasDailyPartitions(clickhouse)) return
  try {
    const rows = await select(clickhouse, 'SELECT 1 FROM results LIMIT 1')
    if (rows.length === 0) await swapResults(clickhouse)
  } catch (error) {
    // another process may run the same migration
    if (!(await waitForDailyPartitions(clickhouse))) throw error
  }
}
