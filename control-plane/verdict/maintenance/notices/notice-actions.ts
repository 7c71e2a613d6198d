import type { MaintenanceEventRow, MaintenanceStage } from '../../../alerting/events/maintenance-event.ts'
import { insertEvents } from '../../../alerting/events/store.ts'
import { queueMaintenanceNotification } from '../../../alerting/routing/publishing/page-notification-store.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import type { MaintenancePeriod } from '../schedule.ts'
import { lockWindowsWithDueNotice } from '../store.ts'
import type { MaintenanceWindow } from '../types.ts'
import { planNextNotice, reviseOpenPeriod } from './notice-plan.ts'
import {
  deletePeriodNotices,
  findLastNoticedPeriod,
  insertNotice,
  resumeSilencedPeriod,
  saveNoticeDue,
  saveNoticedEnd,
} from './notice-store.ts'

/**
 * Sends the due notices of up to `limit` windows (docs/design/maintenance-notices.md). Any number of processes may call
 * it. Returns the number of windows.
 */
export function sendDueNotices(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const due = await lockWindowsWithDueNotice(tx, now, limit)
    for (const window of due) await advanceNotices(tx, window, now)
    return due.length
  })
}

/** Sends the due notices of a window, whose row is locked, and stores when the next one is due. */
export async function advanceNotices(tx: Tx, window: MaintenanceWindow, now: Date): Promise<void> {
  for (;;) {
    const next = planNextNotice(window, await findLastNoticedPeriod(tx, window.id), now)
    if ('dueAt' in next) return saveNoticeDue(tx, window.id, next.dueAt)
    await insertNotice(tx, { windowId: window.id, ...next, sentAt: now })
    await publishStage(tx, window, next.stage, next.period, now)
  }
}

/**
 * Follows a change of a window, whose row is locked: a period that was announced and is no longer planned is cancelled, one
 * that has begun and is no longer planned has ended. `before` has the monitors and texts that subscribers know.
 */
export async function reviseNotices(
  tx: Tx,
  before: MaintenanceWindow,
  after: MaintenanceWindow,
  now: Date,
): Promise<void> {
  const { id: windowId } = before
  if (after.notifySubscribers && !before.notifySubscribers) await resumeSilencedPeriod(tx, windowId, now)
  const last = await findLastNoticedPeriod(tx, windowId)
  const revision = reviseOpenPeriod(after, last, now)
  if (last !== null && revision !== null) {
    const ended = { startsAt: last.startsAt, endsAt: now }
    if (revision.kind === 'keep') await saveNoticedEnd(tx, windowId, { ...last, endsAt: revision.endsAt })
    else if (revision.kind === 'end') {
      await insertNotice(tx, { windowId, stage: 'ended', period: ended, sentAt: now })
      await saveNoticedEnd(tx, windowId, ended)
      await publishStage(tx, before, 'ended', ended, now)
    } else if (revision.kind === 'cancel') {
      await deletePeriodNotices(tx, windowId, last.startsAt)
      await publishStage(tx, before, 'cancelled', last, now)
    } else await insertNotice(tx, { windowId, stage: 'ended', period: last, sentAt: null })
  }
  await advanceNotices(tx, after, now)
}

/** Ends or cancels the open period of a window that is being deleted. */
export const reviseNoticesOfDeleted = (tx: Tx, window: MaintenanceWindow, now: Date): Promise<void> =>
  reviseNotices(tx, window, { ...window, cron: null, startsAt: null, endsAt: null }, now)

async function publishStage(
  tx: Tx,
  { id, projectId, title, description, monitorIds }: MaintenanceWindow,
  stage: MaintenanceStage,
  { startsAt, endsAt }: MaintenancePeriod,
  now: Date,
): Promise<void> {
  const times = { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() }
  const event: MaintenanceEventRow = {
    id: newId(),
    projectId,
    name: `maintenance.${stage}`,
    subject: `maintenance:${id}`,
    data: { maintenance: { id, title, description, ...times }, monitor_ids: monitorIds },
    occurredAt: now,
  }
  await insertEvents(tx, [event])
  await queueMaintenanceNotification(tx, event, now)
}
