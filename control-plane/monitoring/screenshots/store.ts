import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { CheckedRegions } from '../monitors/report-regions/checked-regions.ts'
import type { PageSettings } from './comparison.ts'

type StoredScreenshot = {
  id: string
  projectId: string
  monitorId: string
  region: string
  /** the region of the probe that took it */
  takenIn: string
  probeId: string
  scheduledAt: Date
  attempt: number
  kind: 'failure' | 'comparison'
  contentType: string
  sizeBytes: number
  storeKey: string
  /** difference from the baseline as a share of the pixels; null: not compared */
  difference: number | null
  createdAt: Date
}

const COLUMNS = `s.id, s.project_id AS "projectId", s.monitor_id AS "monitorId", s.region, s.taken_in AS "takenIn",
  s.probe_id AS "probeId", s.scheduled_at AS "scheduledAt", s.attempt, s.kind, s.content_type AS "contentType",
  s.size_bytes AS "sizeBytes", s.store_key AS "storeKey", s.difference, s.created_at AS "createdAt"`

/** Inserts a screenshot. Returns false when it already exists. */
export async function insertScreenshot(tx: Tx, row: StoredScreenshot): Promise<boolean> {
  const inserted = await execute(
    tx,
    `INSERT INTO screenshots (id, project_id, monitor_id, region, taken_in, probe_id, scheduled_at, attempt, kind,
       content_type, size_bytes, store_key, created_at)
     VALUES (:id, :projectId, :monitorId, :region, :takenIn, :probeId, :scheduledAt, :attempt, :kind, :contentType,
       :sizeBytes, :storeKey, :createdAt)
     ON CONFLICT DO NOTHING`,
    row,
  )
  return inserted > 0
}

type ScreenshotMonitor = CheckedRegions & PageSettings & { projectId: string }

/** Finds the monitor that a probe reports about: of any project, not deleted. */
export async function findScreenshotMonitor(db: Db, id: string): Promise<ScreenshotMonitor | null> {
  const rows = await query<ScreenshotMonitor>(
    db,
    `SELECT project_id AS "projectId", coalesce(url, '') AS url, regions, left_regions AS "left",
       config_version AS "configVersion", screenshots_since AS "screenshotsSince", screenshot_threshold AS threshold
     FROM monitors WHERE id = ? AND deleted_at IS NULL`,
    [id],
  )
  return rows[0] ?? null
}

/** Finds a screenshot by id alone, because the signature of the link grants access. */
export async function findScreenshot(db: Db, id: string): Promise<StoredScreenshot | null> {
  const rows = await query<StoredScreenshot>(db, `SELECT ${COLUMNS} FROM screenshots s WHERE s.id = ?`, [id])
  return rows[0] ?? null
}

export type ListedScreenshot = StoredScreenshot & { isBaseline: boolean }

/** Lists one page of a monitor's screenshots, newest first, and counts all of them. */
export async function listScreenshots(
  db: Db,
  projectId: string,
  monitorId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: ListedScreenshot[]; total: number }> {
  const bindings = { projectId, monitorId, ...page }
  const where = 's.project_id = :projectId AND s.monitor_id = :monitorId'
  const [count] = await query<{ total: number }>(
    db,
    `SELECT count(*) AS total FROM screenshots s WHERE ${where}`,
    bindings,
  )
  const rows = await query<ListedScreenshot>(
    db,
    `SELECT ${COLUMNS}, EXISTS (SELECT FROM screenshot_baselines b WHERE b.screenshot_id = s.id) AS "isBaseline"
     FROM screenshots s WHERE ${where} ORDER BY s.created_at DESC, s.id DESC LIMIT :limit OFFSET :offset`,
    bindings,
  )
  return { rows, total: count?.total ?? 0 }
}

type CheckKey = { region: string; scheduledAtMs: number; attempt: number }

/** The key by which the screenshot of a check is found. */
export const buildCheckKey = ({ region, scheduledAtMs, attempt }: CheckKey) => `${region} ${scheduledAtMs} ${attempt}`

/** Finds the ids of the screenshots of some checks of one monitor, by `buildCheckKey`. */
export async function findScreenshotsOfChecks(
  db: Db,
  projectId: string,
  monitorId: string,
  checks: CheckKey[],
): Promise<Map<string, string>> {
  if (checks.length === 0) return new Map()
  const times = checks.map(check => check.scheduledAtMs)
  const rows = await query<{ id: string; region: string; scheduledAt: Date; attempt: number }>(
    db,
    `SELECT id, region, scheduled_at AS "scheduledAt", attempt FROM screenshots
     WHERE project_id = :projectId AND monitor_id = :monitorId AND scheduled_at BETWEEN :from AND :to`,
    { projectId, monitorId, from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) },
  )
  return new Map(rows.map(row => [buildCheckKey({ ...row, scheduledAtMs: row.scheduledAt.getTime() }), row.id]))
}

/** A screenshot is kept while it is the baseline of an existing monitor. */
const NOT_A_BASELINE = `NOT EXISTS (
  SELECT FROM screenshot_baselines b JOIN monitors m ON m.id = b.monitor_id AND m.deleted_at IS NULL
  WHERE b.screenshot_id = s.id)`

type StoredFile = { id: string; storeKey: string }

/** Lists at most `limit` screenshots that are older than `before` and are not the baseline of an existing monitor. */
export function listExpiredScreenshots(db: Db, before: Date, limit: number): Promise<StoredFile[]> {
  return query(
    db,
    `SELECT s.id, s.store_key AS "storeKey" FROM screenshots s WHERE s.created_at < ? AND ${NOT_A_BASELINE}
     ORDER BY s.created_at LIMIT ?`,
    [before, limit],
  )
}

/** Lists at most `limit` screenshots beyond the newest `maxBytes` of their project, oldest first. Baselines stay. */
export function listExcessScreenshots(db: Db, maxBytes: number, limit: number): Promise<StoredFile[]> {
  return query(
    db,
    `SELECT s.id, s.store_key AS "storeKey" FROM (
       SELECT id, store_key, created_at, sum(size_bytes) OVER (PARTITION BY project_id ORDER BY created_at DESC, id DESC) AS bytes
       FROM screenshots WHERE project_id IN (
         SELECT project_id FROM screenshots GROUP BY project_id HAVING sum(size_bytes) > :maxBytes)
     ) s WHERE s.bytes > :maxBytes AND ${NOT_A_BASELINE} ORDER BY s.created_at LIMIT :limit`,
    { maxBytes, limit },
  )
}

/** The size of the screenshots of each project that has some, in bytes. */
export async function listProjectBytes(db: Db): Promise<number[]> {
  const rows = await query<{ bytes: number }>(
    db,
    'SELECT sum(size_bytes)::double precision AS bytes FROM screenshots GROUP BY project_id',
  )
  return rows.map(({ bytes }) => bytes)
}

export async function deleteScreenshots(db: Db, ids: string[]): Promise<void> {
  await execute(db, 'DELETE FROM screenshots WHERE id = ANY (?::uuid[])', [ids])
}
