/**
 * The monitor and the title of the outage that opened an automatic incident `i`, null for a manual one. Incidents of earlier
 * versions have no `outage_title`: theirs has the present name.
 */
export const OUTAGE_SQL = `CASE WHEN i.source = 'automatic' THEN (
    SELECT jsonb_build_object('monitorId', cause.id, 'title', coalesce(i.outage_title, left(m.name || ' is down', 200)))
    FROM coalesce(i.outage_monitor_id, i.cause_monitor_id,
                  (SELECT min(monitor_id::text)::uuid FROM incident_monitors WHERE incident_id = i.id)) AS cause (id)
      LEFT JOIN monitors m ON m.id = cause.id) END`
