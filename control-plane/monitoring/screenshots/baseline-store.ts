import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { StoredComparison } from './comparison.ts'

type Baseline = StoredComparison & { url: string; storeKey: string }

/** Finds the baseline of a region and locks it until the transaction ends. Null before the first comparison. */
export async function lockBaseline(tx: Tx, monitorId: string, region: string): Promise<Baseline | null> {
  // alone: a join that waited for a lock would not find the screenshot that became the baseline in the meantime
  const lock = 'SELECT FROM screenshot_baselines WHERE monitor_id = ? AND region = ? FOR UPDATE'
  await query(tx, lock, [monitorId, region])
  return findBaseline(tx, monitorId, region)
}

/** Finds the baseline of a region. Null before the first comparison. */
export async function findBaseline(db: Db, monitorId: string, region: string): Promise<Baseline | null> {
  const rows = await query<Baseline>(
    db,
    `SELECT b.url, s.store_key AS "storeKey", b.config_version AS "configVersion", b.compared_at AS "comparedAt",
       b.expires_at AS "expiresAt", b.difference
     FROM screenshot_baselines b JOIN screenshots s ON s.id = b.screenshot_id
     WHERE b.monitor_id = ? AND b.region = ?`,
    [monitorId, region],
  )
  return rows[0] ?? null
}

/** A comparison that has arrived at `comparedAt`. */
type PageComparison = {
  monitorId: string
  region: string
  screenshotId: string
  configVersion: number
  comparedAt: Date
  now: Date
}

/** Makes a screenshot the baseline of its region. */
export async function setBaseline(tx: Tx, row: PageComparison & { url: string }): Promise<void> {
  await execute(
    tx,
    `INSERT INTO screenshot_baselines
       (monitor_id, region, url, screenshot_id, config_version, compared_at, updated_at)
     VALUES (:monitorId, :region, :url, :screenshotId, :configVersion, :comparedAt, :now)
     ON CONFLICT (monitor_id, region) DO UPDATE SET url = EXCLUDED.url, screenshot_id = EXCLUDED.screenshot_id,
       config_version = EXCLUDED.config_version, compared_at = EXCLUDED.compared_at, updated_at = EXCLUDED.updated_at,
       compared_id = NULL, difference = NULL, expires_at = NULL, is_confirmed = true`,
    row,
  )
}

/** Records the difference of the newest comparison of a region. */
export async function setDifference(
  tx: Tx,
  row: PageComparison & { difference: number; expiresAt: Date; isConfirmed: boolean },
): Promise<void> {
  await execute(
    tx,
    `UPDATE screenshot_baselines SET compared_id = :screenshotId, difference = :difference, is_confirmed = :isConfirmed,
       config_version = :configVersion, compared_at = :comparedAt, expires_at = :expiresAt, updated_at = :now
     WHERE monitor_id = :monitorId AND region = :region`,
    row,
  )
  await execute(tx, 'UPDATE screenshots SET difference = :difference WHERE id = :screenshotId', row)
}

/** Records the newest comparison of a region whose baseline has no file. The last difference stays until it expires. */
export async function setUncompared(tx: Tx, row: PageComparison): Promise<void> {
  await execute(
    tx,
    `UPDATE screenshot_baselines SET compared_id = :screenshotId, compared_at = :comparedAt, updated_at = :now
     WHERE monitor_id = :monitorId AND region = :region`,
    row,
  )
}

/**
 * Makes the newest comparison of each region its baseline. A baseline is deleted when that comparison shows older settings
 * or was deleted for its age: the next comparison becomes the baseline. Returns the regions that have a baseline, and those
 * whose baseline was deleted.
 */
export async function acceptComparisons(
  tx: Tx,
  monitorId: string,
  now: Date,
): Promise<{ accepted: string[]; deleted: string[] }> {
  const deleted = await query<{ region: string }>(
    tx,
    `DELETE FROM screenshot_baselines b USING monitors m WHERE m.id = b.monitor_id AND b.monitor_id = ? AND (
       b.url <> m.url OR CASE WHEN b.compared_id IS NULL THEN b.difference IS NOT NULL
         ELSE b.config_version < m.screenshots_since END)
     RETURNING b.region`,
    [monitorId],
  )
  await execute(
    tx,
    `UPDATE screenshot_baselines SET screenshot_id = compared_id, compared_id = NULL, difference = NULL,
       expires_at = NULL, is_confirmed = true, updated_at = :now
     WHERE monitor_id = :monitorId AND compared_id IS NOT NULL`,
    { monitorId, now },
  )
  const kept = await query<{ region: string }>(tx, 'SELECT region FROM screenshot_baselines WHERE monitor_id = ?', [
    monitorId,
  ])
  return { accepted: kept.map(({ region }) => region), deleted: deleted.map(({ region }) => region) }
}

/** A difference that counts for the results of a monitor in a region, and until when. */
export type CountingDifference = { difference: number; validUntilMs: number }

/** Lists the differences that count for some monitors in a region with their current settings. For the fleet. */
export async function listDifferences(
  db: Db,
  region: string,
  monitorIds: string[],
  now: Date,
): Promise<Map<string, CountingDifference>> {
  const rows = await query<{ id: string; difference: number; expiresAt: Date }>(
    db,
    `SELECT b.monitor_id AS id, b.difference, b.expires_at AS "expiresAt"
     FROM screenshot_baselines b JOIN monitors m ON m.id = b.monitor_id
     WHERE b.region = :region AND b.monitor_id = ANY (:monitorIds::uuid[]) AND b.difference IS NOT NULL
       AND b.is_confirmed AND b.expires_at > :now AND b.url = m.url AND b.config_version >= m.screenshots_since`,
    { region, monitorIds, now },
  )
  return new Map(rows.map(({ id, difference, expiresAt }) => [id, { difference, validUntilMs: expiresAt.getTime() }]))
}
