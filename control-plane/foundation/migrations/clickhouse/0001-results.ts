/**
 * Raw results, and hourly figures computed from them. The key identifies a result, so a repeated batch changes nothing.
 * From `recorded_at` the hourly worker knows which hours changed.
 */
export const statements = [
  `CREATE TABLE results (
     monitor_id UUID,
     region LowCardinality(String),
     scheduled_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
     attempt UInt8,
     probe_id String CODEC(ZSTD),
     epoch UInt32,
     config_version UInt32,
     started_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
     status Enum8('up' = 0, 'down' = 1, 'degraded' = 2, 'unknown' = 3, 'missed' = 4),
     total_us UInt32,
     dns_us UInt32,
     connect_us UInt32,
     tls_us UInt32,
     first_byte_us UInt32,
     transfer_us UInt32,
     status_code UInt16,
     error_source Enum8('none' = 0, 'target' = 1, 'resolver' = 2, 'internal' = 3),
     error_code LowCardinality(String),
     error_message String CODEC(ZSTD),
     failed_assertions String CODEC(ZSTD),
     resolved_ip String CODEC(ZSTD),
     recorded_at DateTime64(3, 'UTC') DEFAULT now64(3),
     INDEX recorded recorded_at TYPE minmax GRANULARITY 1
   )
   ENGINE = ReplacingMergeTree
   PARTITION BY toMonday(scheduled_at)
   ORDER BY (monitor_id, scheduled_at, region, attempt, probe_id, epoch)
   TTL toDateTime(scheduled_at) + INTERVAL 90 DAY`,
  `CREATE TABLE latency_hourly (
     monitor_id UUID,
     hour DateTime('UTC'),
     region LowCardinality(String) COMMENT 'empty: all regions together',
     count UInt32,
     p50 Float64, p75 Float64, p90 Float64, p95 Float64, p99 Float64,
     min Float64, max Float64, avg Float64,
     computed_at DateTime64(3, 'UTC')
   )
   ENGINE = ReplacingMergeTree(computed_at)
   PARTITION BY toYYYYMM(hour)
   ORDER BY (monitor_id, region, hour)
   TTL hour + INTERVAL 2 YEAR`,
]
