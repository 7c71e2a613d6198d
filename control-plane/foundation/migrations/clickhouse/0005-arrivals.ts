import { type Clickhouse, select } from '../../platform/clickhouse.ts'
import { sleep } from '../../platform/time/clock.ts'

/**
 * What the verdict knew of a result and the history did not: when JetStream took it and its place in the stream, whether
 * its probe doubted it, and whether it came too late to count; and the checks of witnesses (docs/design/rehearsal.md).
 * Results from before have 1970 as `taken_at`.
 */
export const statements = [
  `CREATE TABLE witness_checks (
     monitor_id UUID,
     region LowCardinality(String),
     scheduled_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
     attempt UInt8,
     probe_id String CODEC(ZSTD),
     epoch UInt32,
     config_version UInt32,
     taken_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
     sequence UInt64 CODEC(Delta, ZSTD),
     status Enum8('up' = 0, 'down' = 1, 'degraded' = 2, 'unknown' = 3, 'missed' = 4),
     total_us UInt32,
     status_code UInt16,
     error_source Enum8('none' = 0, 'target' = 1, 'resolver' = 2, 'internal' = 3),
     error_code LowCardinality(String)
   )
   ENGINE = ReplacingMergeTree
   PARTITION BY toDate(scheduled_at)
   ORDER BY (monitor_id, scheduled_at, region, probe_id)
   TTL toDateTime(scheduled_at) + INTERVAL 90 DAY
   SETTINGS ttl_only_drop_parts = 1`,
]

const POLL_INTERVAL_MS = 100
const MAX_POLLS = 100

/** Adds the columns to every table of results: there are two while results are copied to daily partitions. */
export async function finish(clickhouse: Clickhouse): Promise<void> {
  for (let poll = 0; ; poll++) {
    const tables = await listTablesWithout(clickhouse)
    if (tables.length === 0) return
    try {
      for (const name of tables) await addColumns(clickhouse, name)
    } catch (error) {
      // another process may have renamed the table since it was listed
      if (poll >= MAX_POLLS) throw error
      await sleep(POLL_INTERVAL_MS)
    }
  }
}

async function listTablesWithout(clickhouse: Clickhouse): Promise<string[]> {
  const rows = await select<{ name: string }>(
    clickhouse,
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND name IN ('results', 'results_daily', 'results_weekly')
       AND name NOT IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'taken_at')`,
  )
  return rows.map(({ name }) => name)
}

const addColumns = (clickhouse: Clickhouse, table: string) =>
  clickhouse.command({
    query: `ALTER TABLE ${table}
      ADD COLUMN IF NOT EXISTS taken_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
      ADD COLUMN IF NOT EXISTS sequence UInt64 CODEC(Delta, ZSTD),
      ADD COLUMN IF NOT EXISTS is_doubted UInt8,
      ADD COLUMN IF NOT EXISTS is_late UInt8`,
  })
