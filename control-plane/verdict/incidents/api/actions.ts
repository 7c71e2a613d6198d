import { assertProjectWithinLimit } from '../../../accounts/plans/actions.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { insertEvents } from '../../../alerting/events/store.ts'
import { publishEvents, routeToChannels } from '../../../alerting/routing/publishing/publish-actions.ts'
import { restartReminders } from '../../../alerting/routing/reminders/actions.ts'
import { holdKnownMonitors } from '../../../alerting/routing/rules/rule-actions.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { assertRequestVersion } from '../../../foundation/web/conditions/version-actions.ts'
import { conflict, found } from '../../../foundation/web/server/errors.ts'
import {
  detachFromMonitor,
  type EditableIncident,
  insertIncident,
  lockIncident,
  markAcknowledged,
  replaceIncidentMonitors,
  updateIncident,
} from '../edit-store.ts'
import { buildIncidentEvent, type IncidentEventName } from '../incident-event.ts'
import {
  buildChangeUpdates,
  changePostmortem,
  computeResolvedAt,
  getStatusAfterUpdate,
  getUpdateEventName,
} from '../lifecycle.ts'
import { type IncidentRecord, listIncidentsByIds } from '../store.ts'
import {
  findInitialUpdate,
  type IncidentUpdateRecord,
  insertIncidentUpdate,
  isUnknownToSubscribers,
} from '../update-store.ts'
import type { IncidentChange, IncidentCreate, UpdateCreate } from './schemas.ts'

export type IncidentTools = { db: Db; publicUrl: string; limits: InstallationLimits }
/** The project and the acting user; `userId` is null if the account was deleted. */
type IncidentActor = { projectId: string; userId: string | null }

/**
 * Opens a manual incident; `message` becomes its first update. Throws 404 for an unknown monitor, 402 over the limit.
 */
export async function openIncident(
  { db, publicUrl, limits }: IncidentTools,
  actor: IncidentActor,
  body: IncidentCreate,
  now: Date,
): Promise<IncidentRecord> {
  const { title, severity = 'minor', status = 'investigating', message = '', is_internal = false } = body
  const monitorIds = toMonitorIds(body.monitor_ids ?? [])
  const times = { startedAt: now, resolvedAt: status === 'resolved' ? now : null, createdAt: now }
  const rating = { title, severity, status, source: 'manual' as const }
  const incident = { id: newId(), projectId: actor.projectId, ...rating, ...times, monitorIds }
  return db.transaction(async tx => {
    await holdKnownMonitors(tx, actor.projectId, monitorIds)
    if (status !== 'resolved') await assertProjectWithinLimit(tx, actor.projectId, 'openIncidents', limits)
    await insertIncident(tx, incident)
    const update = message === '' ? null : newUpdate(incident.id, actor, { status, message, is_internal }, now)
    if (update) await insertIncidentUpdate(tx, update, true)
    return publishIncidentEvent(tx, 'incident.created', incident.id, update, publicUrl, now)
  })
}

/**
 * Changes the fields in the body. A new severity and a new status each write an update; together they publish one event,
 * with the update about the status. Other changes do neither.
 * Throws 404 for an unknown incident or monitor, 402 over the limit, and 409 for a post-mortem that cannot be published.
 */
export async function changeIncident(
  { db, publicUrl, limits }: IncidentTools,
  actor: IncidentActor,
  id: string,
  body: IncidentChange,
  now: Date,
): Promise<IncidentRecord> {
  const monitorIds = body.monitor_ids && toMonitorIds(body.monitor_ids)
  return withLockedIncident(db, actor.projectId, id, monitorIds ?? [], async (tx, before) => {
    const after = applyChange(before, body, now)
    const { status } = after
    const updates = buildChangeUpdates(before, after).map(content => newUpdate(id, actor, content, now))
    const newest = updates.at(-1)
    const hasOtherMonitors = monitorIds !== undefined && (await replaceIncidentMonitors(tx, id, monitorIds))
    if (newest === undefined && !hasOtherMonitors && hasSameTexts(before, after)) return getRecord(tx, id)
    if (isReopened(before, status)) await assertProjectWithinLimit(tx, actor.projectId, 'openIncidents', limits)
    await store(tx, before, after, now)
    for (const update of updates) await insertIncidentUpdate(tx, update, false)
    if (newest === undefined) return getRecord(tx, id)
    return publishIncidentEvent(tx, getUpdateEventName(before.status, status), id, newest, publicUrl, now)
  })
}

const hasSameTexts = (before: EditableIncident, after: EditableIncident): boolean =>
  before.title === after.title &&
  before.postmortem === after.postmortem &&
  before.postmortemPublishedAt?.getTime() === after.postmortemPublishedAt?.getTime()

function applyChange(before: EditableIncident, body: IncidentChange, now: Date): EditableIncident {
  const { title = before.title, severity = before.severity, status = before.status } = body
  const { postmortem: text, is_postmortem_published: isPublished } = body
  if (isPublished && (text === undefined ? before.postmortem : text) === null)
    throw conflict('there is no post-mortem to publish; set postmortem')
  if (isPublished && status !== 'resolved')
    throw conflict('a post-mortem can be published after the incident is resolved')
  return {
    ...{ ...before, title, severity, status, resolvedAt: computeResolvedAt(before, status, now) },
    ...changePostmortem(before, { text, isPublished }, now),
  }
}

/** Posts an update, which sets the status of the incident. Throws 404. */
export async function postUpdate(
  { db, publicUrl, limits }: IncidentTools,
  actor: IncidentActor,
  id: string,
  { message, status: requested, is_internal = false }: UpdateCreate,
  now: Date,
): Promise<IncidentUpdateRecord> {
  return withLockedIncident(db, actor.projectId, id, [], async (tx, before) => {
    const status = getStatusAfterUpdate(before.status, requested)
    if (isReopened(before, status)) await assertProjectWithinLimit(tx, actor.projectId, 'openIncidents', limits)
    await store(tx, before, { ...before, status, resolvedAt: computeResolvedAt(before, status, now) }, now)
    const update = newUpdate(id, actor, { status, message, is_internal }, now)
    await insertIncidentUpdate(tx, update, false)
    await publishIncidentEvent(tx, getUpdateEventName(before.status, status), id, update, publicUrl, now)
    return update
  })
}

/**
 * Acknowledges an incident. A second acknowledgement changes nothing. Throws 404, and 409 for an incident that was
 * resolved without one.
 */
export async function acknowledgeIncident(
  { db, publicUrl }: Omit<IncidentTools, 'limits'>,
  { projectId, userId }: IncidentActor,
  id: string,
  now: Date,
): Promise<IncidentRecord> {
  return withLockedIncident(db, projectId, id, [], async (tx, { status, acknowledgedAt }) => {
    if (acknowledgedAt !== null) return getRecord(tx, id)
    if (status === 'resolved') throw conflict('a resolved incident cannot be acknowledged')
    await markAcknowledged(tx, id, userId, now)
    return publishIncidentEvent(tx, 'incident.acknowledged', id, await findInitialUpdate(tx, id), publicUrl, now)
  })
}

/** `monitorIds`: monitors that the change names. They are locked before the incident. */
async function withLockedIncident<T>(
  db: Db,
  projectId: string,
  id: string,
  monitorIds: string[],
  handle: (tx: Tx, incident: EditableIncident) => Promise<T>,
): Promise<T> {
  return db.transaction(async tx => {
    await holdKnownMonitors(tx, projectId, monitorIds)
    const incident = found(isId(id) && (await lockIncident(tx, projectId, id)), 'incident')
    await assertRequestVersion(tx)
    return handle(tx, incident)
  })
}

const toMonitorIds = (ids: readonly string[]): string[] => [...new Set(ids.map(id => id.toLowerCase()))]

async function store(tx: Tx, before: EditableIncident, after: EditableIncident, now: Date): Promise<void> {
  // before it is open again, because a monitor may have only one open incident
  const reopens = isReopened(before, after.status)
  if (reopens) await detachFromMonitor(tx, before.id)
  await updateIncident(tx, after, now)
  // a reminder that was due while the incident was resolved is gone
  if (reopens) await restartReminders(tx, before.id, now)
}

const isReopened = (before: EditableIncident, status: string) => before.status === 'resolved' && status !== 'resolved'

/**
 * Publishes the event and returns the changed incident. Subscribers of status pages are not sent an internal end of an
 * outage that was withheld from them.
 */
async function publishIncidentEvent(
  tx: Tx,
  name: IncidentEventName,
  id: string,
  update: IncidentUpdateRecord | null,
  publicUrl: string,
  now: Date,
): Promise<IncidentRecord> {
  const [owned] = await listIncidentsByIds(tx, [id])
  const event = buildIncidentEvent(newId(), { name, ...owned!, update }, publicUrl, now)
  const isInternalEnd = name === 'incident.resolved' && update?.is_internal === true
  if (isInternalEnd && (await isUnknownToSubscribers(tx, id))) {
    await insertEvents(tx, [event])
    await routeToChannels(tx, [event], now)
  } else await publishEvents(tx, [event], now)
  return owned!.incident
}

const getRecord = async (tx: Tx, id: string) => (await listIncidentsByIds(tx, [id]))[0]!.incident

function newUpdate(
  incidentId: string,
  { userId }: IncidentActor,
  content: Pick<IncidentUpdateRecord, 'status' | 'message' | 'is_internal'>,
  now: Date,
): IncidentUpdateRecord {
  return { id: newId(), incident_id: incidentId, ...content, author_id: userId, created_at: now, updated_at: now }
}
