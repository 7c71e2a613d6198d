import { type Clickhouse, select } from '../../platform/clickhouse.ts'
import { sleep } from '../../platform/clock.ts'

/** Whether `results` has partitions of a day. */
export async function isDaily(clickhouse: Clickhouse): Promise<boolean> {
  const key = await select<{ key: string }>(
    clickhouse,
    `SELECT partition_key AS key FROM system.tables WHERE database = currentDatabase() AND name = 'results'`,
  )
  return key[0]?.key === 'toDate(scheduled_at)'
}

const LOOK_EVERY_MS = 100
const LOOKS = 100

/** For a moment in a swap there is no table `results`: a statement that failed then asks whether it is there soon. */
export async function isDailySoon(clickhouse: Clickhouse): Promise<boolean> {
  for (let i = 0; i < LOOKS; i++) {
    if (await isDaily(clickhouse)) return true
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

/**
 * `results_daily` becomes `results`, and what was `results` becomes `results_weekly`, in one statement. Nothing happens when
 * another process has done it.
 */
export async function swapResults(clickhouse: Clickhouse): Promise<void> {
  await clickhouse.command({ query: `INSERT INTO progress SELECT 'swapped_at', now64(3)` })
  try {
    await clickhouse.command({ query: 'RENAME TABLE results TO results_weekly, results_daily TO results' })
  } catch (error) {
    if (!(await isDailySoon(clickhouse))) throw error
  }
}
