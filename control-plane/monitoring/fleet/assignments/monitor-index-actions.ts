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

type MonitorSync = {
  /** Reads what has changed. */
  sync(): Promise<void>
  /** Whether the database, at this position, has something that is not read. */
  isBehind(now: HistoryPosition): boolean
}

/**
 * Reads new and changed monitors into the table and sends them to the probes of this process. When the database has another
 * history than before, as after a restore, it reads all monitors again.
 */
export function createMonitorSync(context: () => FleetContext): MonitorSync {
  let position: HistoryPosition | null = null
  /** true until a reload of all monitors has finished */
  let isReloadDue = false
  const isOtherHistory = (now: HistoryPosition) =>
    isDifferentHistory(now, position, context().assignments.monitors.revision)
  const hasChanges = ({ revision }: HistoryPosition) => revision > context().assignments.monitors.revision
  return {
    async sync() {
      const now = await getHistoryPosition(context().db)
      isReloadDue ||= isOtherHistory(now)
      if (isReloadDue) await reloadAllMonitors(context())
      else if (hasChanges(now)) await readChanges(context(), monitor => applyChange(context(), monitor))
      else expireDeletions(context().assignments.monitors, nowMs())
      isReloadDue = false
      position = now
    },
    isBehind: now => isReloadDue || isOtherHistory(now) || hasChanges(now),
  }
}

type ApplyMonitor = (monitor: StoredMonitor) => AssignmentChange[]

/** Reads changed monitors page by page, in the order of revisions. */
async function readChanges(context: FleetContext, apply: ApplyMonitor): Promise<void> {
  const { monitors: monitorIndex } = context.assignments
  for (;;) {
    const page = await listMonitorsSince(context.db, monitorIndex.revision, PAGE_SIZE)
    const changes: AssignmentChange[] = []
    for (const monitor of page) for (const change of apply(monitor)) changes.push(change)
    notifySessions(context, changes)
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
  const changes = applyMonitor(context.assignments, toInactiveMonitor(monitor))
  recordDeletion(monitorIndex, monitor)
  return changes
}

/**
 * Reads all monitors again after the database got another history. Monitors that it no longer has are removed. Connected
 * probes get the differences. Each region gets a new epoch, so that a probe that reconnects gets a snapshot: its revision
 * belongs to another history.
 */
async function reloadAllMonitors(context: FleetContext): Promise<void> {
  const { monitors: monitorIndex } = context.assignments
  context.log.warn({ revision: monitorIndex.revision }, 'PostgreSQL has another history; reading all monitors again')
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
  const changes: AssignmentChange[] = []
  for (const id of missing) {
    const { revision } = monitorIndex
    const { configVersion } = monitorIndex.entries.get(id) ?? { configVersion: 0 }
    for (const change of applyMonitor(context.assignments, toInactiveMonitor({ id, revision, configVersion })))
      changes.push(change)
    recordDeletion(monitorIndex, { id, revision, deletedAt: new Date(nowMs()) })
  }
  notifySessions(context, changes)
  await renewAllEpochs(context)
}

/** A monitor whose secrets cannot be decrypted becomes inactive, so that all others are still checked. */
function toIndexedOrInactive(context: FleetContext, monitor: StoredMonitor): IndexedMonitor {
  try {
    return toIndexedMonitor(monitor, context.secrets)
  } catch (error) {
    context.log.error(
      { err: error, monitorId: monitor.id },
      'a monitor cannot be checked: its secrets cannot be decrypted',
    )
    return toInactiveMonitor(monitor)
  }
}

function notifySessions(context: FleetContext, changes: readonly AssignmentChange[]): void {
  for (const session of queueChanges(context.sessions, changes)) sendPending(context, session)
}
