import { assertFits } from '../accounts/actions.ts'
import type { Limits } from '../accounts/plans.ts'
import { holdMonitors } from '../alerts/store.ts'
import { isId, newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { notFound, validationError } from '../web/errors.ts'
import { namesNothing } from '../web/names-nothing.ts'
import { planAfter, planFrom } from './plan.ts'
import { scheduleProblems } from './problems.ts'
import type { WindowCreate, WindowUpdate } from './schema.ts'
import { endPeriods, lockDueWindows, lockWindow, removeWindow, saveWindow, storePlan } from './store.ts'
import type { Window } from './types.ts'

/**
 * Called in the same transaction for monitors whose maintenance may have ended before its time: what was withheld of
 * them is looked at again.
 */
export type Review = (tx: Tx, monitorIds: string[], now: Date) => Promise<void>

type Tools = { db: Db; review: Review; limits: Limits }

const EMPTY = {
  description: null,
  cron: null,
  durationMinutes: null,
  timeZone: null,
  startsAt: null,
  endsAt: null,
}

/**
 * Makes a window. Throws 400 for times that do not fit together, 404 for a monitor that the project does not have, and 402
 * when the plan is full.
 */
export async function createWindow(
  { db, limits }: Omit<Tools, 'review'>,
  projectId: string,
  body: WindowCreate,
  now: Date,
): Promise<Window> {
  const { title, monitor_ids: ids } = body
  const made = { ...EMPTY, id: newId(), projectId, title, monitorIds: ids, createdAt: now, updatedAt: now }
  const window = withBody(made, body)
  assertSchedule(window, now)
  await db.transaction(async tx => {
    await holdAll(tx, window)
    await assertFits(tx, projectId, 'maintenanceWindows', limits)
    await saveWindow(tx, window)
    await storePlan(tx, window, planFrom(window, now))
  })
  return window
}

/**
 * Changes what the body names. A period that runs ends and, if the window says so, begins anew in the same moment, so
 * what was maintenance until now stays it. Throws 404 and 400.
 */
export async function changeWindow(
  { db, review, limits }: Tools,
  projectId: string,
  id: string,
  body: WindowUpdate,
  now: Date,
): Promise<Window> {
  return await db.transaction(async tx => {
    const before = isId(id) ? await lockWindow(tx, projectId, id) : null
    if (!before) throw notFound('maintenance window')
    if (namesNothing(body)) return before
    const window = { ...withBody(before, body), updatedAt: now }
    const moves = MOVES.some(key => key in body)
    if (moves) assertSchedule(window, now)
    if (body.monitor_ids) await holdAll(tx, window)
    if (isPast(before, now) && !isPast(window, now)) await assertFits(tx, projectId, 'maintenanceWindows', limits)
    await saveWindow(tx, window)
    if (moves || body.monitor_ids) {
      await endPeriods(tx, id, now)
      await storePlan(tx, window, planFrom(window, now))
      await review(tx, before.monitorIds, now)
    }
    return window
  })
}

/** It takes no place in the plan any more. */
const isPast = ({ endsAt }: Window, now: Date) => endsAt !== null && endsAt <= now

const MOVES = ['cron', 'duration_minutes', 'time_zone', 'starts_at', 'ends_at']

/** Deletes a window and what is planned of it; what has been stays in the figures. Throws 404. */
export async function deleteWindow(
  { db, review }: Omit<Tools, 'limits'>,
  projectId: string,
  id: string,
  now: Date,
): Promise<void> {
  await db.transaction(async tx => {
    const window = isId(id) ? await lockWindow(tx, projectId, id) : null
    if (!window) throw notFound('maintenance window')
    await endPeriods(tx, id, now)
    await removeWindow(tx, id)
    await review(tx, window.monitorIds, now)
  })
}

/** Writes the next period of at most `limit` windows whose last planned one has begun. Answers how many. */
export function planDue(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const due = await lockDueWindows(tx, now, limit)
    for (const window of due) await storePlan(tx, window, planAfter(window, window.plannedAt))
    return due.length
  })
}

function withBody(window: Window, body: WindowUpdate): Window {
  const dateOf = (text: string | null) => (text === null ? null : new Date(text))
  return {
    ...window,
    ...(body.title !== undefined && { title: body.title }),
    ...(body.description !== undefined && { description: body.description }),
    ...(body.monitor_ids && { monitorIds: [...new Set(body.monitor_ids.map(id => id.toLowerCase()))].sort() }),
    ...(body.cron !== undefined && { cron: body.cron === null ? null : body.cron.trim().replace(/\s+/g, ' ') }),
    ...(body.duration_minutes !== undefined && { durationMinutes: body.duration_minutes }),
    ...(body.time_zone !== undefined && { timeZone: body.time_zone }),
    ...(body.starts_at !== undefined && { startsAt: dateOf(body.starts_at) }),
    ...(body.ends_at !== undefined && { endsAt: dateOf(body.ends_at) }),
  }
}

function assertSchedule(window: Window, now: Date): void {
  const problems = scheduleProblems(window, now)
  if (problems.length > 0) throw validationError(problems)
}

async function holdAll(tx: Tx, { projectId, monitorIds }: Window): Promise<void> {
  const isKnown = monitorIds.every(isId) && (await holdMonitors(tx, projectId, monitorIds))
  if (!isKnown) throw notFound('monitor')
}
