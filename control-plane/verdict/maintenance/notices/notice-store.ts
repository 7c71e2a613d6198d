import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { MaintenancePeriod } from '../schedule.ts'
import type { NoticedPeriod, StoredStage } from './notice-plan.ts'

/** The newest period of a window with notices. */
export async function findLastNoticedPeriod(tx: Tx, windowId: string): Promise<NoticedPeriod | null> {
  const rows = await query<StoredNotice>(
    tx,
    `SELECT n.starts_at AS "startsAt", max(n.ends_at) AS "endsAt", array_agg(n.stage) AS stages,
       coalesce(min(n.first_starts_at), n.starts_at) AS "firstStartsAt"
     FROM maintenance_notices n WHERE n.window_id = ? GROUP BY n.starts_at ORDER BY n.starts_at DESC LIMIT 1`,
    [windowId],
  )
  if (!rows[0]) return null
  const [unsentChange = null] = await query<NonNullable<NoticedPeriod['unsentChange']>>(
    tx,
    `SELECT known_starts_at AS "startsAt", known_ends_at AS "endsAt", changed_at AS "changedAt"
     FROM maintenance_notice_plans WHERE window_id = ? AND changed_at IS NOT NULL`,
    [windowId],
  )
  return { ...rows[0], unsentChange }
}

type StoredNotice = Omit<NoticedPeriod, 'unsentChange'>

type NewNotice = {
  windowId: string
  stage: Exclude<StoredStage, 'changed'>
  period: MaintenancePeriod
  sentAt: Date | null
}

/** Stores a notice. A notice that exists violates the primary key, so that none is sent twice. */
export async function insertNotice(tx: Tx, { windowId, stage, period, sentAt }: NewNotice): Promise<void> {
  await execute(
    tx,
    `INSERT INTO maintenance_notices (window_id, starts_at, ends_at, stage, sent_at)
     VALUES (:windowId, :startsAt, :endsAt, :stage, :sentAt)`,
    { windowId, stage, sentAt, startsAt: period.startsAt, endsAt: period.endsAt },
  )
}

/** Stores that the newest change of a period was sent. */
export async function saveSentChange(
  tx: Tx,
  windowId: string,
  period: NoticedPeriod,
  previous: MaintenancePeriod,
  sentAt: Date,
): Promise<void> {
  const { startsAt, endsAt, firstStartsAt } = period
  await execute(
    tx,
    `INSERT INTO maintenance_notices (window_id, starts_at, ends_at, stage, sent_at, first_starts_at, previous_starts_at,
       previous_ends_at)
     VALUES (:windowId, :startsAt, :endsAt, 'changed', :sentAt, :firstStartsAt, :previousStartsAt, :previousEndsAt)
     ON CONFLICT (window_id, starts_at, stage) DO UPDATE SET sent_at = excluded.sent_at,
       previous_starts_at = excluded.previous_starts_at, previous_ends_at = excluded.previous_ends_at`,
    {
      ...{ windowId, startsAt, endsAt, firstStartsAt, sentAt },
      ...{ previousStartsAt: previous.startsAt, previousEndsAt: previous.endsAt },
    },
  )
}

/** Stores another time of a period. */
export async function savePeriodTimes(
  tx: Tx,
  windowId: string,
  { startsAt: oldStartsAt, firstStartsAt }: StoredNotice,
  { startsAt, endsAt }: MaintenancePeriod,
): Promise<void> {
  await execute(
    tx,
    `UPDATE maintenance_notices SET starts_at = :startsAt, ends_at = :endsAt, first_starts_at = :firstStartsAt
     WHERE window_id = :windowId AND starts_at = :oldStartsAt`,
    { windowId, oldStartsAt, firstStartsAt, startsAt, endsAt },
  )
}

/** Stores the time that subscribers know of a period that has another one now. */
export async function saveUnsentChange(
  tx: Tx,
  windowId: string,
  change: NonNullable<NoticedPeriod['unsentChange']>,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO maintenance_notice_plans (window_id, due_at, known_starts_at, known_ends_at, changed_at)
     VALUES (:windowId, :changedAt, :startsAt, :endsAt, :changedAt)
     ON CONFLICT (window_id) DO UPDATE SET known_starts_at = excluded.known_starts_at,
       known_ends_at = excluded.known_ends_at, changed_at = excluded.changed_at`,
    { windowId, ...change },
  )
}

/** Stores that subscribers know the time of the period. */
export async function deleteUnsentChange(tx: Tx, windowId: string): Promise<void> {
  await execute(
    tx,
    `UPDATE maintenance_notice_plans SET known_starts_at = NULL, known_ends_at = NULL, changed_at = NULL
     WHERE window_id = ?`,
    [windowId],
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
