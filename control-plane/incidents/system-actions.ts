import { announce } from '../alerts/announce-actions.ts'
import { newId } from '../platform/ids.ts'
import type { Tx } from '../platform/postgres.ts'
import { insertIncident, lockIncident, updateIncident } from './handling-store.ts'
import { type IncidentEventName, incidentEvent } from './incident-event.ts'
import type { Severity } from './lifecycle.ts'
import { incidentsOfIds } from './store.ts'
import { insertUpdate } from './update-store.ts'

/** What an incident that is about no monitor begins with. */
export type Opening = { title: string; severity: Severity; message: string; startedAt: Date }

/** Opens an incident of ours in a project and announces it. */
export async function openSystemIncident(
  tx: Tx,
  projectId: string,
  id: string,
  { title, severity, message, startedAt }: Opening,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const status = 'investigating'
  const times = { startedAt, resolvedAt: null, createdAt: now }
  await insertIncident(tx, { id, projectId, title, severity, status, ...times, source: 'automatic', monitorIds: [] })
  await tell(tx, 'incident.created', id, { status, message }, true, publicUrl, now)
}

/** Resolves such an incident with a last update; nothing to do where a person resolved or deleted it before. */
export async function resolveSystemIncident(
  tx: Tx,
  projectId: string,
  id: string,
  message: string,
  publicUrl: string,
  now: Date,
): Promise<void> {
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
