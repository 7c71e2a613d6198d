import {
  type EventName,
  type EventRow,
  type IncidentEventData,
  type MonitorEventData,
  parseMonitorSubject,
} from './catalog.ts'

/** How the log names many changes that were told in one message. No webhook carries it: it is none of the catalogue's. */
export const DIGEST_EVENT = 'monitor.digest'

/** The events that digests are made of. */
export const DIGESTIBLE_EVENTS: EventName[] = [
  'monitor.down',
  'monitor.up',
  'monitor.degraded',
  'incident.created',
  'incident.resolved',
]

/**
 * True for what a digest may tell in a line: a change of a monitor, and an incident that began or ended without anybody's
 * words. A warning or a test of a channel is none.
 */
export function isDigestible({ name, subject, data }: Pick<EventRow, 'name' | 'subject' | 'data'>): boolean {
  if (!DIGESTIBLE_EVENTS.includes(name)) return false
  if ('update' in data) return data.update === null || data.update.author_id === null
  return parseMonitorSubject(subject) !== null
}

/** Digests of one channel keep their order. */
export const toDigestSubject = (projectId: string): string => `digest:${projectId}`

/** A change as its event has it. `reminder`: null for news. */
export type DigestChange = {
  occurredAt: Date
  data: MonitorEventData | IncidentEventData
  reminder: number | null
}

/** In the order in which the changes came about. Times are ISO 8601 UTC. */
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
  const told = changes.map(({ occurredAt, data, reminder }) => ({
    ...('monitor' in data ? toMonitorLine(data) : toIncidentLine(data)),
    at: occurredAt.toISOString(),
    url: data.dashboard_url,
    reminder,
  }))
  const data = { project_name: projectName, changes: told }
  return { id, projectId, name: DIGEST_EVENT, subject: toDigestSubject(projectId), data, occurredAt: now }
}

function toMonitorLine({ monitor }: MonitorEventData) {
  return { monitor_id: monitor.id, name: monitor.name, status: monitor.status ?? 'unknown' }
}

/** The monitor that an incident is about, whose outage it tells. One that ended with a pause, say, is just resolved. */
function toIncidentLine({ incident, monitors: [monitor] }: IncidentEventData) {
  const ended = monitor?.status === 'up' ? 'up' : 'resolved'
  const status = incident.status === 'resolved' ? ended : 'down'
  return { monitor_id: monitor?.id ?? incident.id, name: monitor?.name ?? incident.title, status }
}
