import { type EventRow, type MonitorEventData, subjectOfMonitor } from '../events/catalog.ts'
import { humanDuration } from '../events/duration.ts'
import { incidentOfMonitor } from '../incidents/incident-of-monitor.ts'
import type { Transition } from './types.ts'

type MonitorOfEvent = { id: string; projectId: string; name: string; url: string | null; type: string }
type IncidentOfEvent = { id: string; title: string; status: string; severity: string; started_at: Date }

/**
 * The event that a transition is told by (specification, "Data of monitor events"; decisions 6.5); null for a first
 * verdict that is `up`, which sends nothing (decisions 4.5).
 */
export function monitorEvent(
  id: string,
  monitor: MonitorOfEvent,
  transition: Transition,
  incident: IncidentOfEvent | null,
  publicUrl: string,
): EventRow | null {
  if (transition.from === null && transition.to === 'up') return null
  const { projectId, name, url, type } = monitor
  const data: MonitorEventData = {
    monitor: { id: monitor.id, name, url, type, status: transition.to },
    check: {
      region: transition.check.region,
      regions: [...transition.failingRegions],
      status_code: transition.check.statusCode,
      response_time_ms: Math.round(transition.check.responseTimeMs),
      error: transition.check.error?.message ?? '',
    },
    ssl_expiry_days: null,
    domain_expiry_days: null,
    down_duration: transition.downDurationMs === null ? null : humanDuration(transition.downDurationMs),
    incident: incidentOfMonitor(incident),
    dashboard_url: `${publicUrl}/monitors/${monitor.id}`,
  }
  return {
    id,
    projectId,
    name: `monitor.${transition.to}`,
    subject: subjectOfMonitor(monitor.id),
    data,
    occurredAt: new Date(transition.atMs),
  }
}
