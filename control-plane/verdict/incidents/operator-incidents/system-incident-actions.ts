import { publishEvents } from '../../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import { insertIncident, lockIncident, updateIncident } from '../edit-store.ts'
import { buildIncidentEvent, type IncidentEventName } from '../incident-event.ts'
import type { Severity } from '../lifecycle.ts'
import { listIncidentsByIds } from '../store.ts'
import { insertIncidentUpdate } from '../update-store.ts'

/** A new incident that is not about a monitor. */
type SystemIncident = { title: string; severity: Severity; message: string; startedAt: Date }

/** Opens an incident of the system in a project and publishes it. */
export async function openSystemIncident(
  tx: Tx,
  projectId: string,
  id: string,
  { title, severity, message, startedAt }: SystemIncident,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const status = 'investigating'
  const times = { startedAt, resolvedAt: null, createdAt: now }
  await insertIncident(tx, { id, projectId, title, severity, status, ...times, source: 'automatic', monitorIds: [] })
  await publishUpdate(tx, 'incident.created', id, { status, message }, true, publicUrl, now)
}

/** Resolves such an incident with a last update. Does nothing if a person has resolved or deleted it. */
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
  await publishUpdate(tx, 'incident.resolved', id, { status, message }, false, publicUrl, now)
}

async function publishUpdate(
  tx: Tx,
  name: IncidentEventName,
  id: string,
  content: { status: 'investigating' | 'resolved'; message: string },
  isInitial: boolean,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const times = { created_at: now, updated_at: now }
  const update = { id: newId(), incident_id: id, ...content, is_internal: false, author_id: null, ...times }
  await insertIncidentUpdate(tx, update, isInitial)
  const [owned] = await listIncidentsByIds(tx, [id])
  const bySystem = { ...update, is_automatic: true }
  await publishEvents(tx, [buildIncidentEvent(newId(), { name, ...owned!, update: bySystem }, publicUrl, now)], now)
}
