import {
  type EventName,
  type EventRow,
  type IncidentEventData,
  type MonitorEventData,
  parseMonitorSubject,
} from './catalog.ts'
import { isAutomaticUpdate } from './page-event.ts'

/** The name of a digest in the alert log. It is not in the catalog; no webhook receives it. */
export const DIGEST_EVENT = 'monitor.digest'

/** The events that a digest can contain. */
export const DIGESTIBLE_EVENTS: EventName[] = [
  'monitor.down',
  'monitor.up',
  'monitor.degraded',
  'incident.created',
  'incident.resolved',
]

/**
 * Whether a digest can contain an event: a status change of a monitor, and an automatic incident that begins or ends. Warnings
 * and tests of a channel are sent separately.
 */
export function isDigestible({ name, subject, data }: Pick<EventRow, 'name' | 'subject' | 'data'>): boolean {
  if (!DIGESTIBLE_EVENTS.includes(name)) return false
  if ('update' in data) return isAutomaticUpdate(data)
  return parseMonitorSubject(subject) !== null
}

/** The subject of digests; those of one channel are sent in order. */
export const toDigestSubject = (projectId: string): string => `digest:${projectId}`

/** A change in a digest. `reminder`: number of the reminder; null for a new change. */
export type DigestChange = {
  occurredAt: Date
  data: MonitorEventData | IncidentEventData
  reminder: number | null
}

/** The changes are in the order in which they occurred. Times are ISO 8601 UTC. */
export type DigestData = {
  project_name: string
  changes: { monitor_id: string; name: string; status: string; at: string; url: string; reminder: number | null }[]
}

export type DigestRow = {
  id: string
  projectId: string
  name: typeof DIGEST_EVENT
  subject: string
  data: DigestData
  occurredAt: Date
}

export function buildDigestEvent(
  id: string,
  projectId: string,
  { projectName, changes }: { projectName: string; changes: DigestChange[] },
  now: Date,
): DigestRow {
  const lines = changes.map(({ occurredAt, data, reminder }) => ({
    ...('monitor' in data ? toMonitorLine(data) : toIncidentLine(data)),
    at: occurredAt.toISOString(),
    url: data.dashboard_url,
    reminder,
  }))
  const data = { project_name: projectName, changes: lines }
  return { id, projectId, name: DIGEST_EVENT, subject: toDigestSubject(projectId), data, occurredAt: now }
}

function toMonitorLine({ monitor }: MonitorEventData) {
  return { monitor_id: monitor.id, name: monitor.name, status: monitor.status ?? 'unknown' }
}

/** A line about the monitor of an incident. The status is `up` when the monitor recovered, and `resolved` after another end, such as a pause. */
function toIncidentLine({ incident, monitors: [monitor] }: IncidentEventData) {
  const ended = monitor?.status === 'up' ? 'up' : 'resolved'
  const status = incident.status === 'resolved' ? ended : 'down'
  return { monitor_id: monitor?.id ?? incident.id, name: monitor?.name ?? incident.title, status }
}
