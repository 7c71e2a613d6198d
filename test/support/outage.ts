import { v7 as uuidv7 } from 'uuid'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { openAutomaticIncidents } from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { insertMonitor } from './verdict.ts'

const PUBLIC_URL = 'http://127.0.0.1:8080'

/** A monitor that is down: its incident, the explained transition, and one delivery that failed after 3 attempts. */
export async function insertOutage(db: Db, projectId: string, channelId: string, name = 'Checkout') {
  const at = new Date()
  const monitorId = await insertMonitor(db, projectId, { name })
  const outage = { projectId, monitorId, monitorName: name, startedAt: at }
  const { incidents } = await db.transaction(tx => openAutomaticIncidents(tx, [outage], PUBLIC_URL, at))
  const incidentId = incidents[0]!.id
  await execute(
    db,
    `INSERT INTO transitions (id, project_id, monitor_id, from_status, to_status, at, quorum, summary, explanation,
       created_at)
     VALUES (gen_random_uuid(), :projectId, :monitorId, 'up', 'down', :at, 'full', '2 of 3 regions failed 3 checks in a row.',
       :explanation, :at)`,
    { projectId, monitorId, at, explanation: JSON.stringify(buildExplanation(at)) },
  )
  const deliveryId = await insertFailedDelivery(db, { projectId, channelId, monitorId, incidentId, at })
  return { monitorId, incidentId, deliveryId }
}

type DeliverySubject = { projectId: string; channelId: string; monitorId: string; incidentId: string; at: Date }

async function insertFailedDelivery(db: Db, { incidentId, monitorId, at, ...rest }: DeliverySubject): Promise<string> {
  const row = {
    ...rest,
    at,
    id: `whd_${uuidv7().replaceAll('-', '')}`,
    eventId: uuidv7(),
    subject: `monitor:${monitorId}`,
  }
  await execute(
    db,
    `INSERT INTO events (id, project_id, name, subject, data, occurred_at)
     VALUES (:eventId, :projectId, 'monitor.down', :subject, :data, :at)`,
    { ...row, data: JSON.stringify({ incident: { id: incidentId } }) },
  )
  const attempt = {
    ...{ at: at.toISOString(), response_code: 503, duration_ms: 34, error: 'HTTP 503' },
    response_snippet: '<b>no capacity</b>',
  }
  await execute(
    db,
    `INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, attempts,
       request_headers, request_body, created_at, updated_at)
     VALUES (:id, :projectId, :channelId, :eventId, 'monitor.down', :subject, 'failed', :attempts,
       '{"X-Api-Key":"********"}', :body, :at, :at)`,
    {
      ...row,
      attempts: JSON.stringify([attempt, attempt, attempt]),
      body: Buffer.from('{"event":"monitor.down"}'),
    },
  )
  return row.id
}

function buildExplanation(at: Date) {
  const check = {
    ...{ status: 'down', status_code: 0, response_time_ms: 3, attempt: 0, probe_id: 'probe-1' },
    error: { source: 'target', code: 'connection_refused', message: 'the target refused the connection' },
    scheduled_at: at.toISOString(),
  }
  const vote = (region: string) => ({
    ...{ region, state: 'failing', votes: true, age_seconds: 1, failed_in_a_row: 3, not_up_in_a_row: 3 },
    ...{ better_in_a_row: 0, first_failure_at: at.toISOString(), last_check: check },
  })
  return {
    ...{ from: 'up', to: 'down', at: at.toISOString(), rule: 'majority_failing' },
    quorum: { mode: 'full', regions: 3, needed: 2, voting: 2, lost_since: null },
    counts: { ok: 0, degraded: 0, failing: 2, not_voting: 1 },
    thresholds: {
      ...{ failures_in_a_row: 3, better_in_a_row: 3, interval_seconds: 30, timeout_ms: 10_000 },
      vote_lifetime_seconds: 190,
    },
    decided_by: { ...check, region: 'us-east' },
    votes: [vote('us-east'), vote('eu-west')],
    timings: {
      ...{ first_failure_at: at.toISOString(), others_asked_at: null, no_majority_since: null },
      ...{ outage_since: null, outage_seconds: null },
    },
  }
}
