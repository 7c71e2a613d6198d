import { type Clickhouse, select } from '../../platform/clickhouse.ts'

/** Whether `results` has partitions of a day. */
export async function isDaily(clickhouse: Clickhouse): Promise<boolean> {
  const key = await select<{ key: string }>(
    clickhouse,
    `SELECT partition_key AS key FROM system.tables WHERE database = currentDatabase() AND name = 'results'`,
  )
  return key[0]?.key === 'toDate(scheduled_at)'
}

/**
 * `results_daily` becomes `results`, and what was `results` becomes `results_weekly`, in one step. Nothing happens when
 * another process has done it.
 */
export async function swapResults(clickhouse: Clickhouse): Promise<void> {
  await clickhouse.command({ query: `INSERT INTO progress SELECT 'swapped_at', now64(3)` })
  try {
    await clickhouse.command({ query: 'RENAME TABLE results TO results_weekly, results_daily TO results' })
  } catch (error) {
    if (!(await isDaily(clickhouse))) throw error
  }
}
