import type { RetentionSettings } from './settings.ts'

/**
 * A rule that deletes rows of a table (docs/design/retention.md). In the conditions, `t` is the row, `:before` the moment
 * since which rows are kept, and `:first` the smallest id of that moment, so that the primary key finds older rows.
 */
export type RetentionRule = {
  /** in metrics and logs */
  name: string
  table: string
  setting: keyof RetentionSettings
  /** rows that may be due; an index finds them */
  candidates: string
  /**
   * A unique column that orders the candidates, when some of them stay: a round continues after the last one. Null when all
   * candidates are due, so that each batch begins with the remaining ones.
   */
  order: { column: string; first: string } | null
  /** which of the candidates are due */
  condition: string
  /** an assignment that is made instead of a deletion */
  change?: string
  /** the column for the age of the oldest row, and which rows count; null: the age is not reported */
  age: { column: string; among?: string } | null
  /** rows a statement */
  batchSize: number
}

const BY_ID = { column: 'id', first: '00000000-0000-0000-0000-000000000000' }
const BY_DELIVERY = { column: 'id', first: '' }

/**
 * A deleted monitor that may be removed. It stays while a status page shows it, a manual incident refers to it (without it
 * the incident would concern no monitor, and all pages would show it), it has files of screenshots, or its data source may
 * restore it.
 */
const GONE_MONITOR = `m.deleted_at < :before
  AND NOT EXISTS (SELECT FROM status_page_components c WHERE c.monitor_id = m.id)
  AND NOT EXISTS (SELECT FROM incident_monitors im JOIN incidents i ON i.id = im.incident_id
                  WHERE im.monitor_id = m.id AND (i.source = 'manual' OR i.resolved_at IS NULL))
  AND NOT EXISTS (SELECT FROM screenshots s WHERE s.monitor_id = m.id)
  AND NOT EXISTS (SELECT FROM data_source_children c WHERE c.monitor_id = m.id)`

/** Ordered, so that references to a row are deleted before the row. */
export const RETENTION_RULES: RetentionRule[] = [
  {
    name: 'deliveries',
    table: 'deliveries',
    setting: 'deliveries',
    candidates: `t.id < 'whd_' || replace(:first, '-', '')`,
    order: BY_DELIVERY,
    // deliveries that are being tried or replayed stay, and those with a button in their message for 60 more days
    condition: `t.status <> 'pending' AND t.updated_at < :before
      AND (t.chat_message IS NULL OR t.updated_at < :before::timestamptz - interval '60 days')`,
    age: { column: 'created_at' },
    batchSize: 1_000,
  },
  {
    name: 'digests',
    table: 'digests',
    setting: 'deliveries',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    // one with a delivery is deleted with it
    condition: 't.closed_at < :before AND t.delivery_id IS NULL',
    age: { column: 'closed_at', among: 't.closed_at IS NOT NULL AND t.delivery_id IS NULL' },
    batchSize: 1_000,
  },
  {
    name: 'events',
    table: 'events',
    setting: 'events',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    // pending deliveries and withheld alerts need their event, and reminders of an outage need its first event
    condition: `t.occurred_at < :before
      AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = t.id)
      AND NOT EXISTS (SELECT FROM fan_outs f WHERE f.event_id = t.id)
      AND NOT EXISTS (SELECT FROM digest_entries d WHERE d.event_id = t.id)
      AND NOT EXISTS (SELECT FROM reminders r WHERE r.event_id = t.id)
      AND NOT EXISTS (SELECT FROM page_notices n WHERE n.event_id = t.id)
      AND NOT EXISTS (SELECT FROM page_notices n WHERE n.told_event_id = t.id)
      AND NOT EXISTS (
        SELECT FROM silences s, jsonb_each(s.withheld) AS withheld
        WHERE s.monitor_id = CASE
            WHEN t.subject ~ '^monitor:[0-9a-f-]{36}$' THEN substring(t.subject FROM 9)::uuid
            WHEN t.subject ~ '^incident:[0-9a-f-]{36}$' THEN (
              SELECT coalesce(i.outage_monitor_id, i.cause_monitor_id) FROM incidents i
              WHERE i.id = substring(t.subject FROM 10)::uuid)
          END
          AND withheld.value->'eventIds' @> to_jsonb(t.id::text))
      AND CASE WHEN t.name = 'monitor.down' THEN NOT EXISTS (
        SELECT FROM incidents i WHERE i.cause_monitor_id = substring(t.subject FROM 9)::uuid
          AND i.source = 'automatic' AND i.resolved_at IS NULL) ELSE true END`,
    age: { column: 'occurred_at' },
    batchSize: 1_000,
  },
  {
    name: 'explanations',
    table: 'transitions',
    setting: 'explanations',
    candidates: 't.explanation IS NOT NULL AND t.id < :first::uuid',
    order: BY_ID,
    condition: 't.at < :before AND t.explanation IS NOT NULL',
    change: 'explanation = NULL',
    age: { column: 'at', among: 't.explanation IS NOT NULL' },
    batchSize: 1_000,
  },
  {
    name: 'transitions',
    table: 'transitions',
    setting: 'transitions',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    // the last transition before the limit is the status with which the remaining history begins
    condition: `t.at < :before AND EXISTS (
      SELECT FROM transitions later WHERE later.monitor_id = t.monitor_id AND later.at <= :before
        AND (later.at, later.id) > (t.at, t.id))`,
    age: { column: 'at' },
    batchSize: 1_000,
  },
  {
    name: 'incidents',
    table: 'incidents',
    setting: 'incidents',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    condition: 't.resolved_at < :before',
    age: { column: 'started_at' },
    batchSize: 500,
  },
  {
    name: 'maintenance_periods',
    table: 'maintenance_periods',
    setting: 'transitions',
    candidates: 't.ends_at < :before',
    order: null,
    condition: 't.ends_at < :before',
    age: { column: 'ends_at' },
    batchSize: 1_000,
  },
  {
    name: 'maintenance_notices',
    table: 'maintenance_notices',
    setting: 'transitions',
    candidates: 't.starts_at < :before',
    order: null,
    // the newest period of a window says which one is next
    condition: `t.ends_at < :before AND EXISTS (
      SELECT FROM maintenance_notices later WHERE later.window_id = t.window_id AND later.starts_at > t.starts_at)`,
    age: { column: 'starts_at' },
    batchSize: 1_000,
  },
  {
    name: 'maintenance_windows',
    table: 'maintenance_windows',
    setting: 'transitions',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    condition: `t.planned_at IS NULL AND t.ends_at < :before
      AND NOT EXISTS (SELECT FROM maintenance_periods p WHERE p.window_id = t.id)`,
    age: null,
    batchSize: 500,
  },
  {
    name: 'alert_silences',
    table: 'alert_silences',
    setting: 'transitions',
    candidates: 't.ends_at < :before',
    order: null,
    condition: 't.ends_at < :before',
    age: { column: 'ends_at' },
    batchSize: 500,
  },
  {
    name: 'expiry_warnings',
    table: 'expiry_warnings',
    setting: 'transitions',
    candidates: 't.warned_at < :before',
    order: null,
    condition: 't.warned_at < :before',
    age: { column: 'warned_at' },
    batchSize: 1_000,
  },
  {
    name: 'transitions_of_deleted_monitors',
    table: 'transitions',
    setting: 'deleted',
    candidates: `t.monitor_id IN (SELECT m.id FROM monitors m WHERE ${GONE_MONITOR})`,
    order: null,
    condition: `t.monitor_id IN (SELECT m.id FROM monitors m WHERE ${GONE_MONITOR})`,
    age: null,
    batchSize: 1_000,
  },
  {
    name: 'deleted_monitors',
    table: 'monitors',
    setting: 'deleted',
    candidates: 't.deleted_at IS NOT NULL',
    order: BY_ID,
    condition: `EXISTS (SELECT FROM monitors m WHERE m.id = t.id AND ${GONE_MONITOR})
      AND NOT EXISTS (SELECT FROM transitions x WHERE x.monitor_id = t.id)`,
    age: null,
    batchSize: 50,
  },
  {
    name: 'deleted_organizations',
    table: 'organizations',
    setting: 'deleted',
    candidates: 't.deleted_at < :before',
    order: BY_ID,
    condition: `t.deleted_at < :before AND t.emptied_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM projects p WHERE p.organization_id = t.id AND (
        EXISTS (SELECT FROM monitors m WHERE m.project_id = p.id)
        OR EXISTS (SELECT FROM screenshots s WHERE s.project_id = p.id)
        OR EXISTS (SELECT FROM chat_revocations r WHERE r.project_id = p.id)))`,
    age: null,
    batchSize: 10,
  },
  {
    name: 'probes',
    table: 'probes',
    setting: 'probes',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    // a revoked probe stays while its token is valid, otherwise it could enrol again
    condition: `t.last_seen_at < :before AND NOT EXISTS (SELECT FROM region_epochs e WHERE t.id = ANY (e.probe_ids))
      AND (t.revoked_at IS NULL OR NOT EXISTS (
        SELECT FROM probe_tokens k WHERE k.id = t.token_id AND k.is_reusable AND k.revoked_at IS NULL))`,
    age: null,
    batchSize: 500,
  },
  {
    name: 'probe_tokens',
    table: 'probe_tokens',
    setting: 'probes',
    candidates: 't.id < :first::uuid',
    order: BY_ID,
    // a reusable token stays until it is revoked
    condition: `coalesce(t.revoked_at, CASE WHEN NOT t.is_reusable THEN t.expires_at END) < :before
      AND NOT EXISTS (SELECT FROM probes p WHERE p.token_id = t.id)`,
    age: null,
    batchSize: 500,
  },
]

const DAY_MS = 24 * 3_600_000

/** The moment since which the rows of a rule are kept. */
export const computeCutoff = (rule: RetentionRule, retention: RetentionSettings, now: Date): Date =>
  new Date(now.getTime() - retention[rule.setting] * DAY_MS)
