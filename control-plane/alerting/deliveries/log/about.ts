/** SQL: the ids of the events about the monitor `:monitorId`. */
const EVENTS_OF_MONITOR = `SELECT id FROM events WHERE project_id = :projectId AND subject = 'monitor:' || :monitorId::text`

/** SQL: the ids of the events about the incident `:incidentId`, and of those of its monitors that name it. */
const EVENTS_OF_INCIDENT = `
  SELECT id FROM events WHERE project_id = :projectId AND subject = 'incident:' || :incidentId::text
  UNION ALL
  SELECT e.id FROM incident_monitors im JOIN events e ON e.subject = 'monitor:' || im.monitor_id::text
  WHERE im.incident_id = :incidentId::uuid AND e.project_id = :projectId
    AND e.data->'incident'->>'id' = :incidentId::text
    AND EXISTS (SELECT FROM incidents i WHERE i.id = :incidentId::uuid AND i.source = 'automatic')`

/** SQL: the ids of the deliveries of events, and of the digests that contain them. */
const buildDeliveries = (events: string) => `
  SELECT d.id FROM deliveries d WHERE d.event_id IN (${events})
  UNION
  SELECT g.delivery_id FROM digest_entries entry JOIN digests g ON g.id = entry.digest_id
  WHERE entry.event_id IN (${events}) AND g.delivery_id IS NOT NULL`

/** SQL with the bindings `projectId` and `monitorId`: the ids of the deliveries about a monitor. */
export const DELIVERIES_OF_MONITOR = buildDeliveries(EVENTS_OF_MONITOR)
/** SQL with the bindings `projectId` and `incidentId`: the ids of the deliveries about an incident. */
export const DELIVERIES_OF_INCIDENT = buildDeliveries(EVENTS_OF_INCIDENT)
