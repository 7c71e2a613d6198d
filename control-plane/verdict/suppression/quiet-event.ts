import { type EventRow, parseMonitorSubject } from '../../alerting/events/catalog.ts'

/**
 * A recovery told to those who knew of the degradation before an outage and not of the outage: as one from `degraded`
 * alone (decisions 4.5). Nothing of other events, such as the end of an incident that nobody heard of.
 */
export function removeOutage(id: string, event: EventRow): EventRow[] {
  if (parseMonitorSubject(event.subject) === null || !('down_duration' in event.data)) return []
  return [{ ...event, id, data: { ...event.data, down_duration: null, incident: null } }]
}
