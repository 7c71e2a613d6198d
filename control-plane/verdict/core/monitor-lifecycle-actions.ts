import { groupBy } from '../../../shared/group-by.ts'
import { toIncidentSubject } from '../../alerting/events/catalog.ts'
import { publishEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import { isId, newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { conflict, found, notFound } from '../../foundation/web/server/errors.ts'
import { lockMonitor, lockMonitors } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { type AffectedIncidents, resolveAutomaticIncidents } from '../incidents/automatic-actions.ts'
import { ARCHIVED_MESSAGE, DELETED_MESSAGE, PAUSED_MESSAGE, UNCHECKED_MESSAGE } from '../incidents/lifecycle.ts'
import { endSilences } from '../suppression/actions.ts'
import {
  delayCertificateLooks,
  deleteStates,
  insertTransitions,
  markDeleted,
  markPaused,
  markResumed,
  scheduleFetch,
  storeStatuses,
} from './store.ts'

type VerdictTools = { db: Db; publicUrl: string }

/**
 * Pauses a monitor: resolves its automatic incident with an update and without `monitor.up`, deletes its verdict state,
 * and stores a transition to null, so that the time does not count as uptime. Pausing twice changes nothing. Throws
 * 404.
 */
export async function pauseMonitor(
  { db, publicUrl }: VerdictTools,
  projectId: string,
  id: string,
  now: Date,
): Promise<StoredMonitor> {
  return withLockedMonitor(db, projectId, id, async (tx, monitor) => {
    if (monitor.isPaused) return monitor
    const [paused] = await pauseLockedMonitors(tx, [monitor], publicUrl, now)
    return paused!
  })
}

/** Pauses monitors that are not paused. Set-based, in the transaction that locked their rows. Returns them as they are then. */
export async function pauseLockedMonitors(
  tx: Tx,
  monitors: StoredMonitor[],
  publicUrl: string,
  now: Date,
): Promise<StoredMonitor[]> {
  await removeFromVerdict(tx, monitors, PAUSED, publicUrl, now)
  return await markPaused(
    tx,
    monitors.map(monitor => ({ id: monitor.id, at: computeRemovalTime(monitor, now) })),
  )
}

/**
 * Resumes a monitor at status null. It gets a new config version, so that checks from before the pause are history, and
 * that its probes or its data source check it without delay. Throws 404.
 */
export async function resumeMonitor(
  { db }: Pick<VerdictTools, 'db'>,
  projectId: string,
  id: string,
  now: Date,
): Promise<StoredMonitor> {
  if (!isId(id)) throw notFound('monitor')
  return db.transaction(async tx => {
    // before the monitor: the order of locks of the code that reads a data source
    await scheduleFetch(tx, projectId, [id], now)
    const monitor = found(await lockMonitor(tx, projectId, id), 'monitor')
    if (!monitor.isPaused) return monitor
    const [resumed] = await resumeLockedMonitors(tx, [id], now)
    return resumed!
  })
}

/** Resumes paused monitors. Set-based, in the transaction that locked their rows. Returns them as they are then. */
export async function resumeLockedMonitors(tx: Tx, ids: string[], now: Date): Promise<StoredMonitor[]> {
  await delayCertificateLooks(tx, ids, now)
  return await markResumed(tx, ids, now)
}

/**
 * Deletes a monitor. Its row and its past remain for incidents and the delivery log. Throws 404, and 409 for a monitor
 * of a data source.
 */
export async function deleteMonitor(
  { db, publicUrl }: VerdictTools,
  projectId: string,
  id: string,
  now: Date,
): Promise<void> {
  await withLockedMonitor(db, projectId, id, async (tx, monitor) => {
    assertDeletable(monitor)
    await retireMonitors(tx, [monitor], 'deleted', publicUrl, now)
  })
}

/** Deletes monitors of a project, set-based. Ignores deleted ones. Throws 409 if one belongs to a data source. */
export async function deleteMonitors(
  { db, publicUrl }: VerdictTools,
  projectId: string,
  ids: string[],
  now: Date,
): Promise<void> {
  await db.transaction(async tx => {
    const locked = await lockMonitors(tx, ids)
    const monitors = locked.filter(monitor => monitor.projectId === projectId && monitor.deletedAt === null)
    for (const monitor of monitors) assertDeletable(monitor)
    await retireMonitors(tx, monitors, 'deleted', publicUrl, now)
  })
}

/** Throws 409 for a monitor of a data source. */
export function assertDeletable({ dataSource }: StoredMonitor): void {
  if (dataSource === null) return
  throw conflict('a monitor of a data source cannot be deleted; change or delete the data source instead')
}

/**
 * Deletes monitors, or archives those whose key has left their data source. Set-based, in the transaction that locked
 * their rows.
 */
export async function retireMonitors(
  tx: Tx,
  monitors: StoredMonitor[],
  why: 'deleted' | 'archived',
  publicUrl: string,
  now: Date,
): Promise<void> {
  await removeFromVerdict(tx, monitors, why === 'deleted' ? DELETED : ARCHIVED, publicUrl, now)
  await markDeleted(
    tx,
    monitors.map(({ id }) => id),
    now,
  )
}

/**
 * Removes the status of a monitor whose new configuration cannot be checked, as in a pause: otherwise its outage would
 * never end. In the transaction that changes it, on its locked row. Returns the monitor as it is then.
 */
export async function clearVerdict(
  tx: Tx,
  monitor: StoredMonitor,
  publicUrl: string,
  now: Date,
): Promise<StoredMonitor> {
  await removeFromVerdict(tx, [monitor], UNCHECKED, publicUrl, now)
  return monitor.status === null
    ? monitor
    : { ...monitor, status: null, statusChangedAt: computeRemovalTime(monitor, now) }
}

/** Why a monitor leaves the verdict: the summary of its transition, and the last update of its incident. */
type RemovalReason = { summary: string; note: string }
const PAUSED: RemovalReason = { summary: 'paused', note: PAUSED_MESSAGE }
const DELETED: RemovalReason = { summary: 'deleted', note: DELETED_MESSAGE }
const ARCHIVED: RemovalReason = { summary: 'archived', note: ARCHIVED_MESSAGE }
const UNCHECKED: RemovalReason = { summary: 'no longer checked', note: UNCHECKED_MESSAGE }

async function withLockedMonitor<T>(
  db: Db,
  projectId: string,
  id: string,
  change: (tx: Tx, monitor: StoredMonitor) => Promise<T>,
): Promise<T> {
  if (!isId(id)) throw notFound('monitor')
  return db.transaction(async tx => {
    const monitor = found(await lockMonitor(tx, projectId, id), 'monitor')
    return change(tx, monitor)
  })
}

/** Never before the last change of the monitor, which may have been committed after `now`. */
const computeRemovalTime = ({ statusChangedAt }: StoredMonitor, now: Date) =>
  new Date(Math.max(now.getTime(), statusChangedAt?.getTime() ?? 0))

/** Removes monitors from the verdict and resolves their automatic incidents. */
async function removeFromVerdict(
  tx: Tx,
  monitors: StoredMonitor[],
  { summary, note }: RemovalReason,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const leaving = monitors.map(monitor => ({ monitor, id: monitor.id, at: computeRemovalTime(monitor, now) }))
  const withStatus = leaving.filter(({ monitor }) => monitor.status !== null)
  await deleteStates(
    tx,
    leaving.map(({ id }) => id),
  )
  await storeStatuses(
    tx,
    withStatus.map(({ id, at }) => ({ id, status: null, at })),
  )
  await insertTransitions(
    tx,
    withStatus.map(({ monitor, at }) => buildRemovalTransition(monitor, summary, at)),
    now,
  )
  const resolutions = leaving.map(({ id, at }) => ({ monitorId: id, at, message: note }))
  const resolved = await resolveAutomaticIncidents(tx, resolutions, publicUrl, now)
  await publishEvents(tx, await endSilences(tx, groupEndEvents(leaving, resolved), now), now)
}

/** The events that end the incidents of each monitor. */
function groupEndEvents(leaving: { id: string }[], { incidents, events }: AffectedIncidents) {
  const monitorIdsBySubject = new Map(incidents.map(({ id, monitor_id }) => [toIncidentSubject(id), monitor_id]))
  const eventsByMonitor = groupBy(events, ({ subject }) => monitorIdsBySubject.get(subject))
  return leaving.map(({ id }) => ({ monitorId: id, events: eventsByMonitor.get(id) ?? [] }))
}

const buildRemovalTransition = (monitor: StoredMonitor, summary: string, at: Date) => ({
  id: newId(),
  project_id: monitor.projectId,
  monitor_id: monitor.id,
  from_status: monitor.status,
  to_status: null,
  at,
  quorum: 'full' as const,
  summary,
  explanation: {},
})
