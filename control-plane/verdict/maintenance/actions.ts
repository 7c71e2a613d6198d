import { assertProjectWithinLimit } from '../../accounts/plans/actions.ts'
import type { InstallationLimits } from '../../accounts/plans/plans.ts'
import { holdKnownMonitors } from '../../alerting/routing/rules/rule-actions.ts'
import { isId, newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { found, validationError } from '../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../foundation/web/validation/empty-update.ts'
import { DEFAULT_ANNOUNCE_MINUTES, notifiesByDefault } from './limits.ts'
import { advanceNotices, reviseNotices, reviseNoticesOfDeleted } from './notices/notice-actions.ts'
import { planNextPeriod, planPeriodsFrom } from './period-plan.ts'
import { validateSchedule } from './schedule-validation.ts'
import type { WindowCreate, WindowUpdate } from './schemas.ts'
import { endPeriods, lockDueWindows, lockWindow, removeWindow, saveWindow, storePlan } from './store.ts'
import type { MaintenanceWindow } from './types.ts'

/**
 * Schedules a review of withheld events. Called in the same transaction for monitors whose maintenance may have ended
 * early.
 */
export type SuppressionReviewer = (tx: Tx, monitorIds: string[], now: Date) => Promise<void>

type Tools = { db: Db; review: SuppressionReviewer; limits: InstallationLimits }

const EMPTY = {
  description: null,
  cron: null,
  durationMinutes: null,
  timeZone: null,
  startsAt: null,
  endsAt: null,
  announceMinutes: DEFAULT_ANNOUNCE_MINUTES,
}

/**
 * Creates a window. Throws 400 for an invalid schedule, 404 for a monitor that the project does not have, and 402 over
 * the limit of the plan.
 */
export async function createWindow(
  { db, limits }: Omit<Tools, 'review'>,
  projectId: string,
  body: WindowCreate,
  now: Date,
): Promise<MaintenanceWindow> {
  const { title, monitor_ids: ids } = body
  const own = { id: newId(), projectId, title, monitorIds: ids, notifySubscribers: notifiesByDefault(body.cron) }
  const created = { ...EMPTY, ...own, createdAt: now, updatedAt: now }
  const window = withBody(created, body)
  assertSchedule(window, now)
  await db.transaction(async tx => {
    await holdKnownMonitors(tx, projectId, window.monitorIds)
    await assertProjectWithinLimit(tx, projectId, 'maintenanceWindows', limits)
    await saveWindow(tx, window)
    await storePlan(tx, window, planPeriodsFrom(window, now))
    await advanceNotices(tx, window, now)
  })
  return window
}

/**
 * Changes the fields in the body. The current period ends, and begins again at the same moment if the new schedule
 * contains it, so that past maintenance stays as it was. Throws 400, 402 and 404.
 */
export async function changeWindow(
  { db, review, limits }: Tools,
  projectId: string,
  id: string,
  body: WindowUpdate,
  now: Date,
): Promise<MaintenanceWindow> {
  return await db.transaction(async tx => {
    const before = found(isId(id) && (await lockWindow(tx, projectId, id)), 'maintenance window')
    if (isEmptyUpdate(body)) return before
    const window = { ...withBody(before, body), updatedAt: now }
    const isRescheduled = SCHEDULE_FIELDS.some(key => key in body)
    if (isRescheduled) assertSchedule(window, now)
    if (body.monitor_ids) await holdKnownMonitors(tx, projectId, window.monitorIds)
    if (isPast(before, now) && !isPast(window, now))
      await assertProjectWithinLimit(tx, projectId, 'maintenanceWindows', limits)
    await saveWindow(tx, window)
    if (isRescheduled || body.monitor_ids) {
      await endPeriods(tx, id, now)
      await storePlan(tx, window, planPeriodsFrom(window, now))
      await review(tx, before.monitorIds, now)
    }
    await reviseNotices(tx, before, window, now)
    return window
  })
}

/** A past window does not count for the limit of the plan. */
const isPast = ({ endsAt }: MaintenanceWindow, now: Date) => endsAt !== null && endsAt <= now

const SCHEDULE_FIELDS = ['cron', 'duration_minutes', 'time_zone', 'starts_at', 'ends_at']

/** Deletes a window and its planned periods. Past periods stay in the uptime figures. Throws 404. */
export async function deleteWindow(
  { db, review }: Omit<Tools, 'limits'>,
  projectId: string,
  id: string,
  now: Date,
): Promise<void> {
  await db.transaction(async tx => {
    const window = found(isId(id) && (await lockWindow(tx, projectId, id)), 'maintenance window')
    await reviseNoticesOfDeleted(tx, window, now)
    await endPeriods(tx, id, now)
    await removeWindow(tx, id)
    await review(tx, window.monitorIds, now)
  })
}

/**
 * Plans the next period of at most `limit` windows whose last planned period has begun. Returns the number of windows.
 */
export function planDueWindows(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const due = await lockDueWindows(tx, now, limit)
    for (const window of due) await storePlan(tx, window, planNextPeriod(window, window.plannedAt))
    return due.length
  })
}

function withBody(window: MaintenanceWindow, body: WindowUpdate): MaintenanceWindow {
  const toDate = (text: string | null) => (text === null ? null : new Date(text))
  return {
    ...window,
    ...(body.title !== undefined && { title: body.title }),
    ...(body.description !== undefined && { description: body.description }),
    ...(body.monitor_ids && { monitorIds: [...new Set(body.monitor_ids.map(id => id.toLowerCase()))].sort() }),
    ...(body.cron !== undefined && { cron: body.cron === null ? null : body.cron.trim().replace(/\s+/g, ' ') }),
    ...(body.duration_minutes !== undefined && { durationMinutes: body.duration_minutes }),
    ...(body.time_zone !== undefined && { timeZone: body.time_zone }),
    ...(body.starts_at !== undefined && { startsAt: toDate(body.starts_at) }),
    ...(body.ends_at !== undefined && { endsAt: toDate(body.ends_at) }),
    ...(body.notify_subscribers !== undefined && { notifySubscribers: body.notify_subscribers }),
    ...(body.announce_minutes !== undefined && { announceMinutes: body.announce_minutes }),
  }
}

function assertSchedule(window: MaintenanceWindow, now: Date): void {
  const problems = validateSchedule(window, now)
  if (problems.length > 0) throw validationError(problems)
}
