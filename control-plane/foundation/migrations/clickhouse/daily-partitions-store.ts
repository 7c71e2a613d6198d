import { type Clickhouse, select } from '../../platform/clickhouse.ts'
import { sleep } from '../../platform/time/clock.ts'

/** Whether `results` has daily partitions. */
export async function hasDailyPartitions(clickhouse: Clickhouse): Promise<boolean> {
  const key = await select<{ key: string }>(
    clickhouse,
    `SELECT partition_key AS key FROM system.tables WHERE database = currentDatabase() AND name = 'results'`,
  )
  return key[0]?.key === 'toDate(scheduled_at)'
}

const POLL_INTERVAL_MS = 100
const MAX_POLLS = 100

/** During a swap there is no table `results` for a moment. Waits for it after a failed statement. */
export async function waitForDailyPartitions(clickhouse: Clickhouse): Promise<boolean> {
  for (let i = 0; i < MAX_POLLS; i++) {
    if (await hasDailyPartitions(clickhouse)) return true
    await sleep(POLL_INTERVAL_MS)
  }
  return false
}

/**
 * Renames `results_daily` to `results` and the old `results` to `results_weekly`, in one statement. Does nothing when another
 * process has done it.
 */
export async function swapResults(clickhouse: Clickhouse): Promise<void> {
  await clickhouse.command({ query: `INSERT INTO progress SELECT 'swapped_at', now64(3)` })
  try {
    await clickhouse.command({ query: 'RENAME TABLE results TO results_weekly, results_daily TO results' })
  } catch (error) {
    if (!(await waitForDailyPartitions(clickhouse))) throw error
  }
}
