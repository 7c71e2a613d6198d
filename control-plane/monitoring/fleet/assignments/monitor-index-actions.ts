import { nowMs } from '../../../foundation/platform/time/clock.ts'
import {
  getHistoryPosition,
  type HistoryPosition,
  isDifferentHistory,
  listMonitorsSince,
} from '../../monitors/store.ts'
import type { StoredMonitor } from '../../monitors/types.ts'
import { type FleetContext, queueChanges } from '../context.ts'
import { renewAllEpochs } from '../live-sets/epoch-actions.ts'
import { sendPending } from '../sessions/send-actions.ts'
import { type AssignmentChange, applyMonitor } from './assignment-table.ts'
import {
  expireDeletions,
  hasSameAssignment,
  type IndexedMonitor,
  indexMonitor,
  isExpiredDeletion,
  recordDeletion,
  resetIndex,
  skipExpiredDeletion,
  toInactiveMonitor,
  toIndexedMonitor,
} from './monitor-index.ts'

const PAGE_SIZE = 2_000

/**
 * Answers what reads monitors that are new or changed since the last time, into the table and to the probes of this process.
 * When the database has another history than the last time, as after a restore, it reads all of them again.
 */
export function createMonitorSync(context: () => FleetContext): () => Promise<void> {
  let place: HistoryPosition | null = null
  /** reading all of them again has begun and has not been finished yet */
  let isAgainDue = false
  return async () => {
    const now = await getHistoryPosition(context().db)
    isAgainDue ||= isDifferentHistory(now, place, context().assignments.monitors.revision)
    if (isAgainDue) await reloadAllMonitors(context())
    else if (now.revision > context().assignments.monitors.revision)
      await readChanges(context(), monitor => applyChange(context(), monitor))
    else expireDeletions(context().assignments.monitors, nowMs())
    isAgainDue = false
    place = now
  }
}

type ApplyMonitor = (monitor: StoredMonitor) => AssignmentChange[]

/** Page by page, in the order of revisions. */
async function readChanges(context: FleetContext, take: ApplyMonitor): Promise<void> {
  const { monitors: monitorIndex } = context.assignments
  for (;;) {
    const page = await listMonitorsSince(context.db, monitorIndex.revision, PAGE_SIZE)
    const marks: AssignmentChange[] = []
    for (const monitor of page) for (const mark of take(monitor)) marks.push(mark)
    notifySessions(context, marks)
    if (page.length < PAGE_SIZE) break
  }
  expireDeletions(monitorIndex, nowMs())
}

function applyChange(context: FleetContext, monitor: StoredMonitor): AssignmentChange[] {
  const { monitors: monitorIndex } = context.assignments
  if (isExpiredDeletion(monitor, nowMs())) {
    skipExpiredDeletion(monitorIndex, monitor)
    return []
  }
  if (monitor.deletedAt === null) return applyMonitor(context.assignments, toIndexedOrInactive(context, monitor))
  const marks = applyMonitor(context.assignments, toInactiveMonitor(monitor))
  recordDeletion(monitorIndex, monitor)
  return marks
}

/**
 * What the database has counts, and what it has not is deleted. Probes hear of what differs; each region gets a new epoch, so
 * that what a probe that is away has is replaced as a whole: its revision is one of another history.
 */
async function reloadAllMonitors(context: FleetContext): Promise<void> {
  const { monitors: monitorIndex } = context.assignments
  context.log.warn({ revision: monitorIndex.revision }, 'PostgreSQL has another history; all monitors are read again')
  const missing = new Set(monitorIndex.entries.keys())
  resetIndex(monitorIndex)
  await readChanges(context, monitor => {
    missing.delete(monitor.id)
    const known = monitorIndex.entries.get(monitor.id)
    const entry = monitor.deletedAt === null ? toIndexedOrInactive(context, monitor) : null
    if (!known || !entry || !hasSameAssignment(known, entry)) return applyChange(context, monitor)
    indexMonitor(monitorIndex, entry)
    return []
  })
  const marks: AssignmentChange[] = []
  for (const id of missing) {
    const { revision } = monitorIndex
    const { configVersion } = monitorIndex.entries.get(id) ?? { configVersion: 0 }
    for (const mark of applyMonitor(context.assignments, toInactiveMonitor({ id, revision, configVersion })))
      marks.push(mark)
    recordDeletion(monitorIndex, { id, revision, deletedAt: new Date(nowMs()) })
  }
  notifySessions(context, marks)
  await renewAllEpochs(context)
}

/** One monitor whose secrets do not open must not keep the others from being checked. */
function toIndexedOrInactive(context: FleetContext, monitor: StoredMonitor): IndexedMonitor {
  try {
    return toIndexedMonitor(monitor, context.secrets)
  } catch (error) {
    context.log.error({ err: error, monitorId: monitor.id }, 'a monitor cannot be checked: its secrets do not open')
    return toInactiveMonitor(monitor)
  }
}

function notifySessions(context: FleetContext, marks: readonly AssignmentChange[]): void {
  for (const session of queueChanges(context.sessions, marks)) sendPending(context, session)
}
