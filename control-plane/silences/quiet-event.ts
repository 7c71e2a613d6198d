import { type EventRow, monitorOfSubject } from '../events/catalog.ts'

/**
 * A recovery told to those who knew of the degradation before an outage and not of the outage: as one from `degraded`
 * alone (decisions 4.5). Nothing of other events, such as the end of an incident that nobody heard of.
 */
export function quietly(id: string, event: EventRow): EventRow[] {
  if (monitorOfSubject(event.subject) === null || !('down_duration' in event.data)) return []
  return [{ ...event, id, data: { ...event.data, down_duration: null, incident: null } }]
}
