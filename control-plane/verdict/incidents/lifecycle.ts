export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

export const SEVERITIES = ['minor', 'major', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A monitor that went down, as the incident about it begins. */
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

const MAX_TITLE_LENGTH = 200

/** The incident that a monitor going down opens (decisions 5.1). */
export function buildAutomaticIncident(id: string, outage: MonitorOutage): AutomaticIncident {
  return {
    id,
    project_id: outage.projectId,
    monitor_id: outage.monitorId,
    title: `${outage.monitorName} is down`.slice(0, MAX_TITLE_LENGTH),
    severity: 'major',
    status: 'investigating',
    started_at: outage.startedAt,
  }
}

/** What the last update of an automatic incident says. `duration`: "4 minutes 12 seconds". */
export const formatRecoveryMessage = (monitorName: string, duration: string): string =>
  `${monitorName} is up again after ${duration}.`

export const PAUSED_MESSAGE = 'Resolved because the monitor was paused.'
export const DELETED_MESSAGE = 'Resolved because the monitor was deleted.'
export const ARCHIVED_MESSAGE = 'Resolved because the monitor was archived: its data source does not have it any more.'
export const UNCHECKED_MESSAGE = 'Resolved because the monitor is no longer checked.'

/** The status that a posted update leaves (decisions 5.2): what it names, else `investigating`, but resolved stays so. */
export const getStatusAfterUpdate = (before: IncidentStatus, named: IncidentStatus | undefined): IncidentStatus =>
  named ?? (before === 'resolved' ? 'resolved' : 'investigating')

/** Becoming resolved is told as that alone; whatever else an update says, a reopening too, is an update (decisions 5.2). */
export const getUpdateEventName = (before: IncidentStatus, after: IncidentStatus) =>
  after === 'resolved' && before !== 'resolved' ? 'incident.resolved' : 'incident.updated'

/** When an incident is over, given how it was and its status now: what was resolved before stays as it was. */
export function computeResolvedAt(
  before: { status: IncidentStatus; startedAt: Date; resolvedAt: Date | null },
  status: IncidentStatus,
  now: Date,
): Date | null {
  if (status !== 'resolved') return null
  return before.resolvedAt ?? new Date(Math.max(now.getTime(), before.startedAt.getTime()))
}

type Rating = { status: IncidentStatus; severity: Severity }

/**
 * The update that a change of status or severity writes by itself; null when neither changed (decisions 5.2). Visitors of
 * status pages read of the status only: a severity is a rating of ours.
 */
export function buildChangeUpdate(before: Rating, after: Rating): { message: string; is_internal: boolean } | null {
  if (before.status !== after.status) {
    return { message: `Status changed from ${before.status} to ${after.status}`, is_internal: false }
  }
  if (before.severity === after.severity) return null
  return { message: `Severity changed from ${before.severity} to ${after.severity}`, is_internal: true }
}
