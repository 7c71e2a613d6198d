/** A column with the time of planned work, and the longest wait that its planner uses. */
export type PlannedWait = {
  table: string
  /** of type timestamptz */
  column: string
  /** an SQL interval; `t` is the row */
  maxWait: string
}

const HEARTBEAT_POSTPONEMENT_SQL = "interval '1 minute'"

/**
 * Work that waits for minutes or hours (docs/design/loops.md#clock-steps). Not listed: deliveries and their lanes
 * (alerting/deliveries/queue/clock-step-store.ts), partitions (verdict/reader/partitions/partition-store.ts) and probes
 * (monitoring/fleet/live-sets/clock-step-store.ts), which shorten their own waits; waits of a day; and times that people choose, such as maintenance.
 */
export const PLANNED_WAITS: readonly PlannedWait[] = [
  {
    table: 'heartbeats',
    column: 'due_at',
    maxWait: `(SELECT greatest(${HEARTBEAT_POSTPONEMENT_SQL}, (m.heartbeat_interval + coalesce(m.heartbeat_grace, 0)) * interval '1 s')
               FROM monitors m WHERE m.id = t.monitor_id)`,
  },
  { table: 'silences', column: 'due_at', maxWait: `interval '30 s'` },
  { table: 'silences', column: 'send_by', maxWait: `interval '5 minutes'` },
  { table: 'silences', column: 'doubt_until', maxWait: `interval '1 minute'` },
  {
    table: 'silences',
    column: 'grace_until',
    maxWait: `(SELECT CASE WHEN m.type = 'heartbeat' THEN m.heartbeat_interval * interval '1 s'
                 ELSE (m.interval_seconds + 10) * interval '1 s'
                   + 2 * least(m.timeout_ms, m.interval_seconds * 1000) * interval '1 ms' END
               FROM monitors m WHERE m.id = t.monitor_id)`,
  },
  { table: 'data_sources', column: 'next_fetch_at', maxWait: `greatest(t.fetch_interval_s, 10) * interval '1 s'` },
  { table: 'data_sources', column: 'lease_until', maxWait: `t.timeout_ms * interval '1 ms' + interval '105 s'` },
  {
    table: 'vendor_feeds',
    column: 'next_fetch_at',
    maxWait: `greatest(CAST(:vendorSeconds AS float8) * interval '1.1 s', interval '17 minutes')`,
  },
  {
    table: 'reminders',
    column: 'due_at',
    maxWait: `(SELECT coalesce(r.remind_every_minutes, 1440) * interval '1 minute' FROM alert_rules r WHERE r.id = t.rule_id)`,
  },
  { table: 'digests', column: 'due_at', maxWait: `interval '1 minute'` },
  { table: 'page_notices', column: 'due_at', maxWait: `interval '1 minute'` },
  {
    table: 'relay_messages',
    column: 'next_attempt_at',
    maxWait: `least(interval '2 hours', greatest(interval '1 minute', interval '10 s' * power(2, least(t.failures, 12))))`,
  },
  { table: 'relay_destinations', column: 'next_trial_at', maxWait: `interval '1 minute'` },
  {
    table: 'account_mails',
    column: 'next_attempt_at',
    maxWait: `greatest(interval '5 minutes', interval '30 s' * power(2, least(t.attempts, 8)))`,
  },
  { table: 'chat_installations', column: 'renewing_until', maxWait: `interval '30 s'` },
  { table: 'status_page_images', column: 'next_fetch_at', maxWait: `interval '1 day'` },
]
