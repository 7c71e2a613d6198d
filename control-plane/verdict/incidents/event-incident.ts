import type { MonitorEventData } from '../../alerting/events/catalog.ts'

type Incident = { id: string; title: string; status: string; severity: string; started_at: Date }

/** An incident as the events of its monitor contain it; null without one. */
export function toEventIncident(incident: Incident | null): MonitorEventData['incident'] {
  if (incident === null) return null
  const { id, title, status, severity, started_at } = incident
  return { id, title, status, severity, started_at: started_at.toISOString() }
}
