import { type EventRow, parseMonitorSubject } from '../../alerting/events/catalog.ts'

/**
 * A recovery for receivers that know of a degradation before an outage, but not of the outage: a recovery from
 * `degraded`, without duration and incident. Returns nothing for other events, such as the end of an incident that was
 * not published.
 */
export function removeOutage(id: string, event: EventRow): EventRow[] {
  if (parseMonitorSubject(event.subject) === null || !('down_duration' in event.data)) return []
  return [{ ...event, id, data: { ...event.data, down_duration: null, incident: null } }]
}
