import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'

type Baseline = { screenshotId: string; url: string; storeKey: string }

/** Finds the baseline of a region and locks it until the transaction ends. Null before the first comparison. */
export async function lockBaseline(tx: Tx, monitorId: string, region: string): Promise<Baseline | null> {
  const rows = await query<Baseline>(
    tx,
    `SELECT b.screenshot_id AS "screenshotId", b.url, s.store_key AS "storeKey"
     FROM screenshot_baselines b JOIN screenshots s ON s.id = b.screenshot_id
     WHERE b.monitor_id = ? AND b.region = ? FOR UPDATE OF b`,
    [monitorId, region],
  )
  return rows[0] ?? null
}

/** Makes a screenshot the baseline of its region. */
export async function setBaseline(
  tx: Tx,
  row: { monitorId: string; region: string; url: string; screenshotId: string; now: Date },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO screenshot_baselines (monitor_id, region, url, screenshot_id, updated_at)
     VALUES (:monitorId, :region, :url, :screenshotId, :now)
     ON CONFLICT (monitor_id, region) DO UPDATE SET url = EXCLUDED.url, screenshot_id = EXCLUDED.screenshot_id,
       compared_id = NULL, difference = NULL, updated_at = EXCLUDED.updated_at`,
    row,
  )
}

/** Records the difference of the newest comparison of a region. */
export async function setDifference(
  tx: Tx,
  row: { monitorId: string; region: string; screenshotId: string; difference: number; now: Date },
): Promise<void> {
  await execute(
    tx,
    `UPDATE screenshot_baselines SET compared_id = :screenshotId, difference = :difference, updated_at = :now
     WHERE monitor_id = :monitorId AND region = :region`,
    row,
  )
  await execute(tx, 'UPDATE screenshots SET difference = :difference WHERE id = :screenshotId', row)
}

/** Makes the newest comparison of each region its baseline. Returns all regions that have a baseline. */
export async function acceptComparisons(tx: Tx, monitorId: string, now: Date): Promise<string[]> {
  await execute(
    tx,
    `UPDATE screenshot_baselines SET screenshot_id = compared_id, compared_id = NULL, difference = NULL,
       updated_at = :now
     WHERE monitor_id = :monitorId AND compared_id IS NOT NULL`,
    { monitorId, now },
  )
  const rows = await query<{ region: string }>(tx, 'SELECT region FROM screenshot_baselines WHERE monitor_id = ?', [
    monitorId,
  ])
  return rows.map(row => row.region)
}

/** Lists the differences of some monitors in a region that were found for their current addresses. For the fleet. */
export async function listDifferences(db: Db, region: string, monitorIds: string[]): Promise<Map<string, number>> {
  const rows = await query<{ id: string; difference: number }>(
    db,
    `SELECT b.monitor_id AS id, b.difference FROM screenshot_baselines b JOIN monitors m ON m.id = b.monitor_id
     WHERE b.region = :region AND b.monitor_id = ANY (:monitorIds::uuid[]) AND b.difference IS NOT NULL
       AND b.url = m.url`,
    { region, monitorIds },
  )
  return new Map(rows.map(row => [row.id, row.difference]))
}
