/**
 * The progress of background work. For hourly figures: `closed_until` (all days before it are computed) and `late_until`
 * (later results of those days are counted up to it). Figures of the previous worker stay.
 */
export const statements = [
  `CREATE TABLE progress (name LowCardinality(String), at DateTime64(3, 'UTC'))
   ENGINE = ReplacingMergeTree(at) ORDER BY name`,
  `INSERT INTO progress
   SELECT 'closed_until', toStartOfDay(multiIf(
     (SELECT count() FROM latency_hourly) > 0, (SELECT max(computed_at) FROM latency_hourly) - INTERVAL 1 HOUR,
     (SELECT count() FROM results) > 0, (SELECT min(scheduled_at) FROM results WHERE scheduled_at > now() - INTERVAL 90 DAY),
     now64(3)))`,
  `INSERT INTO progress
   SELECT 'late_until', if((SELECT count() FROM latency_hourly) > 0, (SELECT max(computed_at) FROM latency_hourly), now64(3))`,
]
