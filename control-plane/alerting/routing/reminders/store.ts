import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { DueReminder, NewReminder } from './reminder.ts'

/**
 * Inserts or replaces the reminder of each rule, except of rules and incidents that were deleted in the meantime. When the
 * same outage is sent again, after `degraded`, its count continues.
 */
export async function upsertReminders(tx: Tx, reminders: NewReminder[]): Promise<void> {
  if (reminders.length === 0) return
  await execute(
    tx,
    `INSERT INTO reminders (rule_id, monitor_id, incident_id, event_id, due_at)
     SELECT "ruleId", "monitorId", "incidentId", "eventId", "dueAt"
     FROM jsonb_to_recordset(:rows::jsonb)
       AS row ("ruleId" uuid, "monitorId" uuid, "incidentId" uuid, "eventId" uuid, "dueAt" timestamptz)
     WHERE EXISTS (SELECT FROM alert_rules WHERE id = "ruleId" FOR KEY SHARE)
       AND EXISTS (SELECT FROM incidents WHERE id = "incidentId" FOR KEY SHARE)
     ORDER BY "ruleId" ${ON_CONFLICT_KEEP_COUNT_SQL}`,
    { rows: JSON.stringify(reminders) },
  )
}

const ON_CONFLICT_KEEP_COUNT_SQL = `
  ON CONFLICT (rule_id) DO UPDATE SET monitor_id = excluded.monitor_id, incident_id = excluded.incident_id,
    event_id = excluded.event_id, due_at = excluded.due_at,
    told = CASE WHEN reminders.incident_id = excluded.incident_id THEN reminders.told ELSE 0 END`

export async function deleteReminders(tx: Tx, ruleIds: string[]): Promise<void> {
  if (ruleIds.length === 0) return
  await execute(tx, 'DELETE FROM reminders WHERE rule_id = ANY (?::uuid[])', [ruleIds])
}

/**
 * Starts the reminders of rules whose monitors have an open outage. Those of a withheld outage (maintenance, a parent that is
 * down) are not sent: they wait until the silence ends, and the release of the outage replaces them. The caller holds the
 * monitors.
 */
export async function insertRemindersForOpenIncidents(
  tx: Tx,
  rules: { id: string; monitorId: string; dueAt: Date }[],
): Promise<void> {
  if (rules.length === 0) return
  await execute(
    tx,
    `INSERT INTO reminders (rule_id, monitor_id, incident_id, event_id, due_at)
     SELECT rule.id, i.cause_monitor_id, i.id, e.id, rule."dueAt"
     FROM jsonb_to_recordset(:rows::jsonb) AS rule (id uuid, "monitorId" uuid, "dueAt" timestamptz)
     JOIN incidents i ON i.cause_monitor_id = rule."monitorId" AND i.source = 'automatic' AND i.resolved_at IS NULL,
     LATERAL (
       SELECT id FROM events
       WHERE subject = 'monitor:' || i.cause_monitor_id AND name = 'monitor.down' AND data->'incident'->>'id' = i.id::text
       ORDER BY id DESC LIMIT 1
     ) e
     ORDER BY rule.id ${ON_CONFLICT_KEEP_COUNT_SQL}`,
    { rows: JSON.stringify(rules.map(({ id, monitorId, dueAt }) => ({ id, monitorId, dueAt }))) },
  )
}

/** The monitor whose outage an automatic incident is about; none after the outage. */
export async function listCausingMonitors(tx: Tx, incidentId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    'SELECT cause_monitor_id AS id FROM incidents WHERE id = ? AND cause_monitor_id IS NOT NULL',
    [incidentId],
  )
  return rows.map(({ id }) => id)
}

/** When the next reminder is due; null when there is none. */
export async function findNextReminderDue(db: Db): Promise<Date | null> {
  const [row] = await query<{ due: Date | null }>(db, 'SELECT min(due_at) AS due FROM reminders')
  return row?.due ?? null
}

/**
 * Claims due reminders, at most `limit`, with their monitors and incidents. Locks the monitors, then the channels, until
 * the transaction ends. Rows that another transaction holds are skipped, and so are projects with events that wait for
 * the fan-out: these events come first. The work ends with the transaction, so no lease is needed.
 */
export async function claimDueReminders(tx: Tx, limit: number, now: Date): Promise<DueReminder[]> {
  const monitorIds = [...new Set(await lockIds(tx, MONITORS_OF_DUE, { now, limit }))]
  if (monitorIds.length === 0) return []
  const channelIds = await lockIds(tx, CHANNELS_OF_DUE, { monitorIds, now })
  const rows = await query<DueReminder & { startedAt: Date }>(tx, CLAIM, { monitorIds, channelIds, limit, now })
  return rows.map(({ startedAt, incident, ...row }) => ({
    ...row,
    incident: { ...incident, started_at: startedAt.toISOString() },
  }))
}

async function lockIds(tx: Tx, sql: string, bindings: Parameters<typeof query>[2]): Promise<string[]> {
  return (await query<{ id: string }>(tx, sql, bindings)).map(row => row.id)
}

/** Locked rows do not count for the limit: a transaction that holds many monitors delays no other reminder. */
const MONITORS_OF_DUE = `
  SELECT m.id FROM reminders r JOIN monitors m ON m.id = r.monitor_id
  WHERE r.due_at <= :now AND NOT EXISTS (SELECT FROM fan_outs f WHERE f.project_id = m.project_id)
  ORDER BY r.due_at LIMIT :limit FOR KEY SHARE OF m SKIP LOCKED`

const CHANNELS_OF_DUE = `
  SELECT id FROM alert_channels
  WHERE id IN (
    SELECT rule.alert_channel_id FROM reminders r JOIN alert_rules rule ON rule.id = r.rule_id
    WHERE r.monitor_id = ANY (:monitorIds::uuid[]) AND r.due_at <= :now)
  ORDER BY id FOR KEY SHARE SKIP LOCKED`

const CLAIM = `
  SELECT r.rule_id AS "ruleId", rule.project_id AS "projectId", rule.alert_channel_id AS "channelId",
    rule.on_down AS "onDown", rule.remind_every_minutes AS "everyMinutes", r.told AS "sentCount", r.due_at AS "dueAt",
    json_build_object('id', m.id, 'name', m.name, 'url', m.url, 'status', m.status, 'isPaused', m.is_paused) AS monitor,
    m.deleted_at IS NOT NULL AS "isDeleted",
    m.id IN (SELECT silenced_monitors(:monitorIds::uuid[], :now)) AS "isSilenced",
    m.id IN (SELECT outdated_monitors(:monitorIds::uuid[])) AS "isOutdated",
    EXISTS (SELECT FROM data_sources s WHERE s.id = m.data_source_id AND s.is_paused) AS "isSourcePaused",
    json_build_object('id', i.id, 'title', i.title, 'status', i.status, 'severity', i.severity) AS incident,
    i.started_at AS "startedAt", i.resolved_at IS NOT NULL AS "isResolved",
    i.acknowledged_at IS NOT NULL AS "isAcknowledged", e.data
  FROM reminders r JOIN alert_rules rule ON rule.id = r.rule_id JOIN monitors m ON m.id = r.monitor_id
  JOIN incidents i ON i.id = r.incident_id JOIN events e ON e.id = r.event_id
  WHERE r.monitor_id = ANY (:monitorIds::uuid[]) AND rule.alert_channel_id = ANY (:channelIds::uuid[])
    AND r.due_at <= :now
  ORDER BY r.due_at LIMIT :limit FOR UPDATE OF r SKIP LOCKED`

/** `wasSent` false: the monitor was suppressed, not `down`, perhaps out of date or of a paused source, and the reminder is deferred. */
type ReminderUpdate = { ruleId: string; dueAt: Date; wasSent: boolean }

export async function updateReminders(tx: Tx, updates: ReminderUpdate[]): Promise<void> {
  if (updates.length === 0) return
  await execute(
    tx,
    `UPDATE reminders r SET due_at = row."dueAt", told = r.told + row."wasSent"::integer
     FROM jsonb_to_recordset(?::jsonb) AS row ("ruleId" uuid, "dueAt" timestamptz, "wasSent" boolean)
     WHERE r.rule_id = row."ruleId"`,
    [JSON.stringify(updates)],
  )
}
