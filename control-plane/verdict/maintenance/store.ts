import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../foundation/platform/postgres/joined-reads.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'
import type { PeriodPlan } from './period-plan.ts'
import type { MaintenancePeriod } from './schedule.ts'
import type { MaintenanceWindow } from './types.ts'

const COLUMNS = `
  w.id, w.project_id AS "projectId", w.title, w.description, w.cron, w.duration_minutes AS "durationMinutes",
  w.time_zone AS "timeZone", w.starts_at AS "startsAt", w.ends_at AS "endsAt", w.created_at AS "createdAt",
  w.updated_at AS "updatedAt", w.notify_subscribers AS "notifySubscribers", w.announce_minutes AS "announceMinutes",
  ARRAY (SELECT m.id FROM maintenance_window_monitors wm JOIN monitors m ON m.id = wm.monitor_id
         WHERE wm.window_id = w.id AND m.deleted_at IS NULL ORDER BY m.id) AS "monitorIds"`

export const WINDOW_VERSION: RecordVersion = {
  noun: 'maintenance window',
  table: 'maintenance_windows',
  ignored: ['planned_at'],
  related: `(SELECT jsonb_agg(wm.monitor_id ORDER BY wm.monitor_id)
    FROM maintenance_window_monitors wm JOIN monitors m ON m.id = wm.monitor_id
    WHERE wm.window_id = record.id AND m.deleted_at IS NULL)`,
}

/** One page of a project's windows, newest first, and their total number. */
export async function listWindows(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ windows: MaintenanceWindow[]; total: number }> {
  const [count] = await query<{ total: number }>(
    db,
    'SELECT count(*) AS total FROM maintenance_windows WHERE project_id = ?',
    [projectId],
  )
  const windows = await query<MaintenanceWindow>(
    db,
    `SELECT ${COLUMNS} FROM maintenance_windows w WHERE project_id = :projectId ORDER BY w.id DESC
     LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  return { windows, total: count?.total ?? 0 }
}

/** A window. `id` has to be a valid id. */
export async function findWindow(db: Db, projectId: string, id: string): Promise<MaintenanceWindow | null> {
  const sql = `SELECT ${COLUMNS} FROM maintenance_windows w WHERE project_id = ? AND id = ?`
  return (await query<MaintenanceWindow>(db, sql, [projectId, id]))[0] ?? null
}

/** A window, locked until the transaction ends. */
export async function lockWindow(tx: Tx, projectId: string, id: string): Promise<MaintenanceWindow | null> {
  const lock = 'SELECT FROM maintenance_windows WHERE project_id = ? AND id = ? FOR NO KEY UPDATE'
  await query(tx, lock, [projectId, id])
  // in a statement of its own: one that waits for a lock reads the monitors as they were before
  return findWindow(tx, projectId, id)
}

/**
 * Locks up to `limit` windows whose newest planned period has begun, and skips those of other processes. The work ends
 * with the transaction, so no lease is needed.
 */
export function lockDueWindows(tx: Tx, now: Date, limit: number): Promise<(MaintenanceWindow & { plannedAt: Date })[]> {
  return query(
    tx,
    `SELECT ${COLUMNS}, w.planned_at AS "plannedAt" FROM maintenance_windows w WHERE planned_at <= :now
     ORDER BY planned_at LIMIT :limit FOR NO KEY UPDATE OF w SKIP LOCKED`,
    { now, limit },
  )
}

/** Whether a window has to be planned, or has a due notice to subscribers: one query while nothing is due. */
export const hasDueWork = (db: Db, now: Date): Promise<boolean> =>
  hasRowsJoined(
    db,
    `SELECT FROM maintenance_windows WHERE planned_at <= :now
     UNION ALL SELECT FROM maintenance_notice_plans WHERE due_at <= :now`,
    { now },
  )

/** Locks up to `limit` windows with a due notice to subscribers, and skips those that another process has locked. */
export function lockWindowsWithDueNotice(tx: Tx, now: Date, limit: number): Promise<MaintenanceWindow[]> {
  return query(
    tx,
    `SELECT ${COLUMNS} FROM maintenance_windows w JOIN maintenance_notice_plans n ON n.window_id = w.id
     WHERE n.due_at <= :now ORDER BY n.due_at LIMIT :limit FOR NO KEY UPDATE OF w SKIP LOCKED`,
    { now, limit },
  )
}

/** Writes a window and replaces its monitors. Deleted monitors stay, because their data source may restore them. */
export async function saveWindow(tx: Tx, { monitorIds, ...window }: MaintenanceWindow): Promise<void> {
  await execute(
    tx,
    `INSERT INTO maintenance_windows (id, project_id, title, description, cron, duration_minutes, time_zone, starts_at,
       ends_at, notify_subscribers, announce_minutes, created_at, updated_at)
     VALUES (:id, :projectId, :title, :description, :cron, :durationMinutes, :timeZone, :startsAt, :endsAt,
       :notifySubscribers, :announceMinutes, :createdAt, :updatedAt)
     ON CONFLICT (id) DO UPDATE SET title = excluded.title, description = excluded.description, cron = excluded.cron,
       duration_minutes = excluded.duration_minutes, time_zone = excluded.time_zone, starts_at = excluded.starts_at,
       ends_at = excluded.ends_at, notify_subscribers = excluded.notify_subscribers,
       announce_minutes = excluded.announce_minutes, updated_at = excluded.updated_at`,
    window,
  )
  const bindings = { id: window.id, monitorIds }
  await execute(
    tx,
    `DELETE FROM maintenance_window_monitors USING monitors
     WHERE window_id = :id AND monitors.id = monitor_id AND deleted_at IS NULL
       AND monitor_id <> ALL (CAST(:monitorIds AS uuid[]))`,
    bindings,
  )
  await execute(
    tx,
    `INSERT INTO maintenance_window_monitors (window_id, monitor_id)
     SELECT :id, monitor_id FROM unnest(CAST(:monitorIds AS uuid[])) AS row (monitor_id) ORDER BY monitor_id
     ON CONFLICT DO NOTHING`,
    bindings,
  )
}

export async function removeWindow(tx: Tx, id: string): Promise<void> {
  await execute(tx, 'DELETE FROM maintenance_windows WHERE id = ?', [id])
}

/**
 * Writes planned periods of a stored window for all its monitors, and when to plan again. Deleted monitors are
 * included, because their data source may restore them, except those whose row another transaction removes.
 */
export async function storePlan(tx: Tx, window: MaintenanceWindow, { periods, plannedAt }: PeriodPlan): Promise<void> {
  const { id, projectId } = window
  for (const period of periods) {
    await execute(
      tx,
      `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at)
       SELECT :projectId, monitor_id, :id, :startsAt, :endsAt FROM (
         SELECT monitor_id FROM maintenance_window_monitors JOIN monitors m ON m.id = monitor_id
         WHERE window_id = :id ORDER BY monitor_id FOR KEY SHARE OF m) AS stored
       ON CONFLICT (monitor_id, starts_at, window_id) DO UPDATE SET ends_at = excluded.ends_at`,
      { id, projectId, ...period },
    )
  }
  await execute(tx, 'UPDATE maintenance_windows SET planned_at = :plannedAt WHERE id = :id', { id, plannedAt })
}

/** Ends the current period of a window and deletes planned ones. Past periods stay. */
export async function endPeriods(tx: Tx, windowId: string, now: Date): Promise<void> {
  await execute(tx, 'DELETE FROM maintenance_periods WHERE window_id = :windowId AND starts_at >= :now', {
    windowId,
    now,
  })
  await execute(tx, 'UPDATE maintenance_periods SET ends_at = :now WHERE window_id = :windowId AND ends_at > :now', {
    windowId,
    now,
  })
}

/**
 * The maintenance of a monitor between two moments, in order. PostgreSQL merges periods that overlap or touch, because those
 * of several windows can be a thousand times as many.
 */
export function listPeriods(
  db: Db,
  projectId: string,
  monitorId: string,
  from: Date,
  to: Date,
): Promise<MaintenancePeriod[]> {
  return query(
    db,
    `SELECT lower(period) AS "startsAt", upper(period) AS "endsAt" FROM (
       SELECT range_agg(tstzrange(starts_at, ends_at)) AS periods FROM maintenance_periods
       WHERE project_id = :projectId AND monitor_id = :monitorId AND ends_at > :from AND starts_at < :to
     ) AS merged CROSS JOIN unnest(periods) AS period
     ORDER BY period`,
    { projectId, monitorId, from, to },
  )
}

/** The monitors that are in maintenance at a moment. */
export async function listMonitorsInMaintenance(db: Db, monitorIds: string[], now: Date): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT DISTINCT monitor_id AS id FROM maintenance_periods
     WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND starts_at <= :now AND ends_at > :now`,
    { monitorIds, now },
  )
  return new Set(rows.map(({ id }) => id))
}
