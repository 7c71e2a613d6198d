import { type EventRow, type MonitorEventData, toMonitorSubject } from '../../alerting/events/catalog.ts'
import { formatDuration } from '../../alerting/events/duration.ts'
import { toEventIncident } from '../incidents/event-incident.ts'
import type { StatusTransition } from './types.ts'

type EventMonitor = { id: string; projectId: string; name: string; url: string | null; type: string }
type EventIncident = { id: string; title: string; status: string; severity: string; started_at: Date }

/** The event of a transition; null for a first verdict `up`, which sends nothing. */
export function buildMonitorEvent(
  id: string,
  monitor: EventMonitor,
  transition: StatusTransition,
  incident: EventIncident | null,
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
    down_duration: transition.downDurationMs === null ? null : formatDuration(transition.downDurationMs),
    incident: toEventIncident(incident),
    dashboard_url: `${publicUrl}/monitors/${monitor.id}`,
  }
  return {
    id,
    projectId,
    name: `monitor.${transition.to}`,
    subject: toMonitorSubject(monitor.id),
    data,
    occurredAt: new Date(transition.atMs),
  }
}
