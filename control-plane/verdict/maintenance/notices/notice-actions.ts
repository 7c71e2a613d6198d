import {
  buildPeriodId,
  type MaintenanceEventRow,
  type MaintenanceStage,
} from '../../../alerting/events/maintenance-event.ts'
import { insertEvents } from '../../../alerting/events/store.ts'
import { queueMaintenanceNotification } from '../../../alerting/routing/publishing/page-notification-store.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import type { MaintenancePeriod } from '../schedule.ts'
import { lockWindowsWithDueNotice } from '../store.ts'
import type { MaintenanceWindow } from '../types.ts'
import { type NoticedPeriod, planNextNotice, reviseOpenPeriod } from './notice-plan.ts'
import {
  deletePeriodNotices,
  deleteUnsentChange,
  findLastNoticedPeriod,
  insertNotice,
  resumeSilencedPeriod,
  saveNoticeDue,
  savePeriodTimes,
  saveSentChange,
  saveUnsentChange,
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
    const { stage, period } = next
    if (stage === 'changed') await saveSentChange(tx, window.id, period, next.previous, now)
    else await insertNotice(tx, { windowId: window.id, stage, period, sentAt: now })
    await deleteUnsentChange(tx, window.id)
    await publishStage(tx, window, next, now)
  }
}

/**
 * Follows a change of a window, whose row is locked: a period that was announced and is no longer planned is cancelled, one
 * that has begun and is no longer planned has ended, and another time of a period is sent after a minute. Monitors that
 * were removed are no longer planned. `before` has the monitors and texts that subscribers know.
 */
export async function reviseNotices(
  tx: Tx,
  before: MaintenanceWindow,
  after: MaintenanceWindow,
  now: Date,
): Promise<void> {
  if (after.notifySubscribers && !before.notifySubscribers) await resumeSilencedPeriod(tx, before.id, now)
  const last = await findLastNoticedPeriod(tx, before.id)
  if (last !== null) await revisePeriod(tx, { before, after }, last, now)
  await advanceNotices(tx, after, now)
}

async function revisePeriod(
  tx: Tx,
  { before, after }: { before: MaintenanceWindow; after: MaintenanceWindow },
  last: NoticedPeriod,
  now: Date,
): Promise<void> {
  const { id: windowId } = before
  const known = last.unsentChange ?? last
  const revision = reviseOpenPeriod(after, last, now)
  if (revision === null) return
  if (revision.kind === 'keep') {
    await publishRemoval(tx, { before, after }, last, now)
    await publishAddition(tx, { before, after }, { ...last, ...pickTimes(revision.period) }, now)
    return movePeriod(tx, windowId, last, revision.period, now)
  }
  await deleteUnsentChange(tx, windowId)
  if (revision.kind === 'silence') {
    // when the notices continue, a change that was not sent is found again
    const silenced = { ...last, ...pickTimes(known) }
    await savePeriodTimes(tx, windowId, last, silenced)
    await insertNotice(tx, { windowId, stage: 'ended', period: silenced, sentAt: null })
  } else if (revision.kind === 'end') {
    const ended = { ...last, endsAt: now }
    await insertNotice(tx, { windowId, stage: 'ended', period: last, sentAt: now })
    await savePeriodTimes(tx, windowId, last, ended)
    await publishStage(tx, before, { stage: 'ended', period: ended }, now)
  } else {
    await deletePeriodNotices(tx, windowId, last.startsAt)
    await publishStage(tx, before, { stage: 'cancelled', period: { ...last, ...pickTimes(known) } }, now)
  }
}

/** The period continues, but not for monitors that were removed: pages that show only these are sent its end. */
async function publishRemoval(
  tx: Tx,
  { before, after }: { before: MaintenanceWindow; after: MaintenanceWindow },
  last: NoticedPeriod,
  now: Date,
): Promise<void> {
  const remaining = new Set(after.monitorIds)
  const monitorIds = before.monitorIds.filter(id => !remaining.has(id))
  if (monitorIds.length === 0 || !before.notifySubscribers) return
  const removal = last.stages.includes('begun')
    ? { stage: 'ended' as const, period: { ...last, endsAt: now } }
    : { stage: 'cancelled' as const, period: { ...last, ...pickTimes(last.unsentChange ?? last) } }
  await publishStage(tx, { ...before, monitorIds }, { ...removal, exceptMonitorIds: after.monitorIds }, now)
}

/** The period continues with monitors that were added: pages that show only these are sent its announcement or beginning. */
async function publishAddition(
  tx: Tx,
  { before, after }: { before: MaintenanceWindow; after: MaintenanceWindow },
  period: NoticedPeriod,
  now: Date,
): Promise<void> {
  const known = new Set(before.monitorIds)
  const monitorIds = after.monitorIds.filter(id => !known.has(id))
  if (monitorIds.length === 0 || !before.notifySubscribers) return
  const stage = period.stages.includes('begun') ? 'begun' : 'announced'
  await publishStage(tx, { ...after, monitorIds }, { stage, period, exceptMonitorIds: before.monitorIds }, now)
}

const pickTimes = ({ startsAt, endsAt }: MaintenancePeriod): MaintenancePeriod => ({ startsAt, endsAt })

const haveSameTimes = (a: MaintenancePeriod, b: MaintenancePeriod) =>
  a.startsAt.getTime() === b.startsAt.getTime() && a.endsAt.getTime() === b.endsAt.getTime()

/** Stores another time of a period. Nothing is sent of a change that is undone before its notice. */
async function movePeriod(
  tx: Tx,
  windowId: string,
  last: NoticedPeriod,
  period: MaintenancePeriod,
  now: Date,
): Promise<void> {
  if (haveSameTimes(last, period)) return
  await savePeriodTimes(tx, windowId, last, period)
  const known = last.unsentChange ?? { ...pickTimes(last), changedAt: now }
  if (haveSameTimes(known, period)) await deleteUnsentChange(tx, windowId)
  else await saveUnsentChange(tx, windowId, known)
}

/** Ends or cancels the open period of a window that is being deleted. */
export const reviseNoticesOfDeleted = (tx: Tx, window: MaintenanceWindow, now: Date): Promise<void> =>
  reviseNotices(tx, window, { ...window, cron: null, startsAt: null, endsAt: null }, now)

type SentStage = {
  stage: MaintenanceStage
  period: MaintenancePeriod & { firstStartsAt?: Date }
  previous?: MaintenancePeriod
  /** pages that show one of these are sent nothing */
  exceptMonitorIds?: string[]
}

async function publishStage(
  tx: Tx,
  { id, projectId, title, description, monitorIds }: MaintenanceWindow,
  { stage, period, previous, exceptMonitorIds }: SentStage,
  now: Date,
): Promise<void> {
  const identity = { id, period_id: buildPeriodId(id, period.firstStartsAt ?? period.startsAt) }
  const event: MaintenanceEventRow = {
    id: newId(),
    projectId,
    name: `maintenance.${stage}`,
    subject: `maintenance:${id}`,
    data: {
      maintenance: { ...identity, title, description, ...formatTimes(period) },
      ...(previous && { previous: formatTimes(previous) }),
      monitor_ids: monitorIds,
    },
    occurredAt: now,
  }
  await insertEvents(tx, [event])
  await queueMaintenanceNotification(tx, event, now, exceptMonitorIds)
}

const formatTimes = ({ startsAt, endsAt }: MaintenancePeriod) => ({
  starts_at: startsAt.toISOString(),
  ends_at: endsAt.toISOString(),
})
