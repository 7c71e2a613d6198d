import { announce } from '../alerts/announce-actions.ts'
import { newId } from '../platform/ids.ts'
import type { Tx } from '../platform/postgres.ts'
import type { Trouble, Troubles } from './fleet-troubles.ts'
import { insertIncident, lockIncident, updateIncident } from './handling-store.ts'
import { type IncidentEventName, incidentEvent } from './incident-event.ts'
import { releaseSubjects, takeSubjects } from './operator-store.ts'
import { incidentsOfIds } from './store.ts'
import { insertUpdate } from './update-store.ts'

/**
 * Opens an incident of the operator project for each trouble that has none, and resolves those whose subject is well.
 * In the caller's transaction, which has looked after `lockTroubles`.
 */
export async function tellOperator(
  tx: Tx,
  projectId: string,
  { troubles, wells }: Troubles,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const ids = troubles.map(({ subject }) => ({ subject, incidentId: newId() }))
  const taken = await takeSubjects(tx, ids, now)
  for (const [i, trouble] of troubles.entries()) {
    if (taken.has(trouble.subject)) await open(tx, projectId, ids[i]!.incidentId, trouble, publicUrl, now)
  }
  const messageOf = new Map(wells.map(({ subject, message }) => [subject, message]))
  for (const { subject, incidentId } of await releaseSubjects(tx, [...messageOf.keys()])) {
    await resolve(tx, projectId, incidentId, messageOf.get(subject)!, publicUrl, now)
  }
}

async function open(tx: Tx, projectId: string, id: string, trouble: Trouble, publicUrl: string, now: Date) {
  const { title, severity, message, startedAt } = trouble
  const status = 'investigating'
  const times = { startedAt, resolvedAt: null, createdAt: now }
  await insertIncident(tx, { id, projectId, title, severity, status, ...times, source: 'automatic', monitorIds: [] })
  await tell(tx, 'incident.created', id, { status, message }, true, publicUrl, now)
}

/** Nothing to do where a person resolved or deleted it before. */
async function resolve(tx: Tx, projectId: string, id: string, message: string, publicUrl: string, now: Date) {
  const incident = await lockIncident(tx, projectId, id)
  if (incident === null || incident.status === 'resolved') return
  const status = 'resolved'
  const resolvedAt = new Date(Math.max(now.getTime(), incident.startedAt.getTime()))
  await updateIncident(tx, { ...incident, status, resolvedAt }, now)
  await tell(tx, 'incident.resolved', id, { status, message }, false, publicUrl, now)
}

async function tell(
  tx: Tx,
  name: IncidentEventName,
  id: string,
  said: { status: 'investigating' | 'resolved'; message: string },
  isInitial: boolean,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const times = { created_at: now, updated_at: now }
  const update = { id: newId(), incident_id: id, ...said, is_internal: false, author_id: null, ...times }
  await insertUpdate(tx, update, isInitial)
  const [owned] = await incidentsOfIds(tx, [id])
  await announce(tx, [incidentEvent(newId(), { name, ...owned!, update }, publicUrl, now)], now)
}
