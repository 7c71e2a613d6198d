export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

export const SEVERITIES = ['minor', 'major', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A monitor that went down, with the fields of its incident. */
export type MonitorOutage = { projectId: string; monitorId: string; monitorName: string; startedAt: Date }

export type AutomaticIncident = {
  id: string
  project_id: string
  monitor_id: string
  title: string
  severity: Severity
  status: IncidentStatus
  started_at: Date
}

/** The incident for a monitor that went down. */
export function buildAutomaticIncident(id: string, outage: MonitorOutage): AutomaticIncident {
  return {
    id,
    project_id: outage.projectId,
    monitor_id: outage.monitorId,
    title: formatOutageTitle(outage.monitorName),
    severity: 'major',
    status: 'investigating',
    started_at: outage.startedAt,
  }
}

/** The title of an automatic incident. Names have at most 100 characters, titles 200. */
export const formatOutageTitle = (name: string): string => `${name} is down`

/** The last update of an automatic incident after a recovery. `duration`: "4 minutes 12 seconds". */
export const formatRecoveryMessage = (monitorName: string, duration: string): string =>
  `${monitorName} is up again after ${duration}.`

export const PAUSED_MESSAGE = 'Resolved because the monitor was paused.'
export const DELETED_MESSAGE = 'Resolved because the monitor was deleted.'
export const ARCHIVED_MESSAGE = 'Resolved because the monitor was archived: its data source no longer contains it.'
export const UNCHECKED_MESSAGE = 'Resolved because the monitor is no longer checked.'

/** The status after an update: the requested one, otherwise `investigating`, except that `resolved` stays. */
export const getStatusAfterUpdate = (before: IncidentStatus, requested: IncidentStatus | undefined): IncidentStatus =>
  requested ?? (before === 'resolved' ? 'resolved' : 'investigating')

/** The event of an update: `incident.resolved` if it resolves the incident, otherwise `incident.updated`. */
export const getUpdateEventName = (before: IncidentStatus, after: IncidentStatus) =>
  after === 'resolved' && before !== 'resolved' ? 'incident.resolved' : 'incident.updated'

/** The `resolved_at` of an incident under a new status. A resolved incident keeps its time. */
export function computeResolvedAt(
  before: { status: IncidentStatus; startedAt: Date; resolvedAt: Date | null },
  status: IncidentStatus,
  now: Date,
): Date | null {
  if (status !== 'resolved') return null
  return before.resolvedAt ?? new Date(Math.max(now.getTime(), before.startedAt.getTime()))
}

type Postmortem = { postmortem: string | null; postmortemPublishedAt: Date | null }

/** The post-mortem after a change. Without a text, or with `isPublished` false, it is not published; it keeps its first time. */
export function changePostmortem(
  before: Postmortem,
  { text = before.postmortem, isPublished }: { text?: string | null; isPublished?: boolean },
  now: Date,
): Postmortem {
  const isPublic = text !== null && (isPublished ?? before.postmortemPublishedAt !== null)
  return { postmortem: text, postmortemPublishedAt: isPublic ? (before.postmortemPublishedAt ?? now) : null }
}

type Rating = { status: IncidentStatus; severity: Severity }

type ChangeUpdate = { status: IncidentStatus; message: string; is_internal: boolean }

/**
 * The updates that a change of severity and status writes, in this order, so that the one about the status is the newest.
 * An update about a severity is internal, because status pages do not show severities.
 */
export function buildChangeUpdates(before: Rating, after: Rating): ChangeUpdate[] {
  const updates: ChangeUpdate[] = []
  if (before.severity !== after.severity) {
    const message = `Severity changed from ${before.severity} to ${after.severity}`
    updates.push({ status: before.status, message, is_internal: true })
  }
  if (before.status !== after.status) {
    const message = `Status changed from ${before.status} to ${after.status}`
    updates.push({ status: after.status, message, is_internal: false })
  }
  return updates
}
