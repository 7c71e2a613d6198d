import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { MaintenancePeriod } from '../schedule.ts'
import type { NoticedPeriod, StoredStage } from './notice-plan.ts'

/** The newest period of a window with notices. */
export async function findLastNoticedPeriod(tx: Tx, windowId: string): Promise<NoticedPeriod | null> {
  const rows = await query<NoticedPeriod>(
    tx,
    `SELECT starts_at AS "startsAt", max(ends_at) AS "endsAt", array_agg(stage) AS stages
     FROM maintenance_notices WHERE window_id = ? GROUP BY starts_at ORDER BY starts_at DESC LIMIT 1`,
    [windowId],
  )
  return rows[0] ?? null
}

type NewNotice = { windowId: string; stage: StoredStage; period: MaintenancePeriod; sentAt: Date | null }

/** Stores a notice. A notice that exists violates the primary key, so that none is sent twice. */
export async function insertNotice(tx: Tx, { windowId, stage, period, sentAt }: NewNotice): Promise<void> {
  await execute(
    tx,
    `INSERT INTO maintenance_notices (window_id, starts_at, ends_at, stage, sent_at)
     VALUES (:windowId, :startsAt, :endsAt, :stage, :sentAt)`,
    { windowId, stage, sentAt, startsAt: period.startsAt, endsAt: period.endsAt },
  )
}

/** Stores a new end of a period. */
export async function saveNoticedEnd(tx: Tx, windowId: string, { startsAt, endsAt }: MaintenancePeriod): Promise<void> {
  await execute(
    tx,
    'UPDATE maintenance_notices SET ends_at = :endsAt WHERE window_id = :windowId AND starts_at = :startsAt',
    { windowId, startsAt, endsAt },
  )
}

/** Forgets a period, so that it can be announced again. */
export async function deletePeriodNotices(tx: Tx, windowId: string, startsAt: Date): Promise<void> {
  await execute(tx, 'DELETE FROM maintenance_notices WHERE window_id = ? AND starts_at = ?', [windowId, startsAt])
}

/** Continues the notices of a period that has not ended, after `notify_subscribers` was off. */
export async function resumeSilencedPeriod(tx: Tx, windowId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `DELETE FROM maintenance_notices
     WHERE window_id = :windowId AND stage = 'ended' AND sent_at IS NULL AND ends_at > :now`,
    { windowId, now },
  )
}

/** Stores when the next notice of a window is due; null: there is none. */
export async function saveNoticeDue(tx: Tx, windowId: string, dueAt: Date | null): Promise<void> {
  if (dueAt === null) await execute(tx, 'DELETE FROM maintenance_notice_plans WHERE window_id = ?', [windowId])
  else
    await execute(
      tx,
      `INSERT INTO maintenance_notice_plans (window_id, due_at) VALUES (:windowId, :dueAt)
       ON CONFLICT (window_id) DO UPDATE SET due_at = excluded.due_at`,
      { windowId, dueAt },
    )
}
