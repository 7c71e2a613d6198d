import { assertFits } from '../accounts/actions.ts'
import type { Limits } from '../accounts/plans.ts'
import { announce } from '../alerts/announce-actions.ts'
import { holdMonitors } from '../alerts/store.ts'
import { isId, newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { conflict, notFound } from '../web/errors.ts'
import {
  type HandledIncident,
  insertIncident,
  lockIncident,
  markAcknowledged,
  takeOver,
  updateIncident,
} from './handling-store.ts'
import { type IncidentEventName, incidentEvent } from './incident-event.ts'
import { changeUpdate, eventOfUpdate, resolvedAtOf, statusAfterUpdate } from './lifecycle.ts'
import type { IncidentChange, IncidentCreate, UpdateCreate } from './schemas.ts'
import { type IncidentRecord, incidentsOfIds } from './store.ts'
import { initialUpdateOf, insertUpdate, type UpdateRecord } from './update-store.ts'

export type IncidentTools = { db: Db; publicUrl: string; limits: Limits }
/** Who acts in which project; `userId` is null when that account is gone. */
export type Person = { projectId: string; userId: string | null }

/**
 * Opens an incident by hand; its message becomes the first update (decisions 5.2). Throws 404 for an unknown monitor, 402
 * when too many are open.
 */
export async function openIncident(
  { db, publicUrl, limits }: IncidentTools,
  person: Person,
  body: IncidentCreate,
  now: Date,
): Promise<IncidentRecord> {
  const { title, severity = 'minor', status = 'investigating', message = '' } = body
  const monitorIds = [...new Set((body.monitor_ids ?? []).map(id => id.toLowerCase()))]
  const times = { startedAt: now, resolvedAt: status === 'resolved' ? now : null, createdAt: now }
  const rating = { title, severity, status, source: 'manual' as const }
  const incident = { id: newId(), projectId: person.projectId, ...rating, ...times, monitorIds }
  return db.transaction(async tx => {
    const isKnown = monitorIds.every(isId) && (await holdMonitors(tx, person.projectId, monitorIds))
    if (!isKnown) throw notFound('monitor')
    if (status !== 'resolved') await assertFits(tx, person.projectId, 'openIncidents', limits)
    await insertIncident(tx, incident)
    const update = message === '' ? null : newUpdate(incident.id, person, { status, message, is_internal: false }, now)
    if (update) await insertUpdate(tx, update, true)
    return tell(tx, 'incident.created', incident.id, update, publicUrl, now)
  })
}

/**
 * Changes what the body names. A new status or severity writes an update of its own and is told; a new title alone is
 * not (decisions 5.2). Throws 404.
 */
export async function changeIncident(
  { db, publicUrl, limits }: IncidentTools,
  person: Person,
  id: string,
  body: IncidentChange,
  now: Date,
): Promise<IncidentRecord> {
  return inLock(db, person.projectId, id, async (tx, before) => {
    const { title = before.title, severity = before.severity, status = before.status } = body
    const after = { ...before, title, severity, status, resolvedAt: resolvedAtOf(before, status, now) }
    const change = changeUpdate(before, after)
    if (change === null && title === before.title) return recordOf(tx, id)
    if (isReopened(before, status)) await assertFits(tx, person.projectId, 'openIncidents', limits)
    await store(tx, before, after, now)
    if (change === null) return recordOf(tx, id)
    const update = newUpdate(id, person, { status, ...change }, now)
    await insertUpdate(tx, update, false)
    return tell(tx, eventOfUpdate(before.status, status), id, update, publicUrl, now)
  })
}

/** Posts an update, which sets the incident's status (decisions 5.2). Throws 404. */
export async function postUpdate(
  { db, publicUrl, limits }: IncidentTools,
  person: Person,
  id: string,
  { message, status: named, is_internal = false }: UpdateCreate,
  now: Date,
): Promise<UpdateRecord> {
  return inLock(db, person.projectId, id, async (tx, before) => {
    const status = statusAfterUpdate(before.status, named)
    if (isReopened(before, status)) await assertFits(tx, person.projectId, 'openIncidents', limits)
    await store(tx, before, { ...before, status, resolvedAt: resolvedAtOf(before, status, now) }, now)
    const update = newUpdate(id, person, { status, message, is_internal }, now)
    await insertUpdate(tx, update, false)
    await tell(tx, eventOfUpdate(before.status, status), id, update, publicUrl, now)
    return update
  })
}

/**
 * Says that somebody takes care of an incident: the first one does, again changes nothing. Throws 404, and 409 for
 * one that was resolved without.
 */
export async function acknowledgeIncident(
  { db, publicUrl }: Omit<IncidentTools, 'limits'>,
  { projectId, userId }: Person,
  id: string,
  now: Date,
): Promise<IncidentRecord> {
  return inLock(db, projectId, id, async (tx, { status, acknowledgedAt }) => {
    if (acknowledgedAt !== null) return recordOf(tx, id)
    if (status === 'resolved') throw conflict('the incident is resolved; there is nothing left to acknowledge')
    await markAcknowledged(tx, id, userId, now)
    return tell(tx, 'incident.acknowledged', id, await initialUpdateOf(tx, id), publicUrl, now)
  })
}

async function inLock<T>(
  db: Db,
  projectId: string,
  id: string,
  handle: (tx: Tx, incident: HandledIncident) => Promise<T>,
): Promise<T> {
  return db.transaction(async tx => {
    const incident = isId(id) ? await lockIncident(tx, projectId, id) : null
    if (!incident) throw notFound('incident')
    return handle(tx, incident)
  })
}

async function store(tx: Tx, before: HandledIncident, after: HandledIncident, now: Date): Promise<void> {
  // before it is open again: only one open incident may belong to a monitor
  if (isReopened(before, after.status)) await takeOver(tx, before.id)
  await updateIncident(tx, after, now)
}

const isReopened = (before: HandledIncident, status: string) => before.status === 'resolved' && status !== 'resolved'

/** Announces what happened and answers the incident as it is then. */
async function tell(
  tx: Tx,
  name: IncidentEventName,
  id: string,
  update: UpdateRecord | null,
  publicUrl: string,
  now: Date,
): Promise<IncidentRecord> {
  const [owned] = await incidentsOfIds(tx, [id])
  await announce(tx, [incidentEvent(newId(), { name, ...owned!, update }, publicUrl, now)], now)
  return owned!.incident
}

const recordOf = async (tx: Tx, id: string) => (await incidentsOfIds(tx, [id]))[0]!.incident

function newUpdate(
  incidentId: string,
  { userId }: Person,
  said: Pick<UpdateRecord, 'status' | 'message' | 'is_internal'>,
  now: Date,
): UpdateRecord {
  return { id: newId(), incident_id: incidentId, ...said, author_id: userId, created_at: now, updated_at: now }
}
