export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

export const SEVERITIES = ['minor', 'major', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A monitor that went down, as the incident about it begins. */
export type Outage = { projectId: string; monitorId: string; monitorName: string; startedAt: Date }

export type AutomaticIncident = {
  id: string
  project_id: string
  monitor_id: string
  title: string
  severity: Severity
  status: IncidentStatus
  started_at: Date
}

const TITLE_LIMIT = 200

/** The incident that a monitor going down opens (decisions 5.1). */
export function openingOf(id: string, outage: Outage): AutomaticIncident {
  return {
    id,
    project_id: outage.projectId,
    monitor_id: outage.monitorId,
    title: `${outage.monitorName} is down`.slice(0, TITLE_LIMIT),
    severity: 'major',
    status: 'investigating',
    started_at: outage.startedAt,
  }
}

/** What the last update of an automatic incident says. `duration`: "4 minutes 12 seconds". */
export const recoveryMessage = (monitorName: string, duration: string): string =>
  `${monitorName} is up again after ${duration}.`

export const PAUSED_MESSAGE = 'Resolved because the monitor was paused.'
export const DELETED_MESSAGE = 'Resolved because the monitor was deleted.'
export const UNCHECKED_MESSAGE = 'Resolved because the monitor is not checked any more.'
