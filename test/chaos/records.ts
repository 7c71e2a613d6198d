import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { VerdictMonitorRow } from '../../control-plane/verdict/reader/counting/policy.ts'
import { loadMonitors } from '../../control-plane/verdict/reader/partitions/partition-store.ts'
import { PARTITIONS } from '../../shared/nats/subjects.ts'

/** The data that Picket has stored at the end of a run. Times in ms. */
export type StoredRecords = {
  monitors: VerdictMonitorRow[]
  transitions: TransitionRecord[]
  /** regions that had no probe that could publish for some time */
  absentRegions: string[]
  incidents: { monitorId: string; startedMs: number; isResolved: boolean }[]
  /** titles of the incidents that customers reported */
  reports: string[]
  deliveries: DeliveryRecord[]
  /** the key of each row, with its status */
  history: Map<string, string>
  /** number of keys that more than one row of the history has */
  historyTwice: number
}

export type TransitionRecord = {
  monitorId: string
  from: string | null
  to: string | null
  atMs: number
  quorum: string
}
export type DeliveryRecord = {
  id: string
  status: string
  event: string
  monitorId: string | null
  occurredMs: number
  attempts: object[]
}

const MS_OF = (column: string) => `CAST(extract(epoch FROM ${column}) * 1000 AS float8)`

export async function loadStoredRecords(db: Db, clickhouseUrl: string, monitorIds: string[]): Promise<StoredRecords> {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition)
  const monitors = await Promise.all(partitions.map(partition => loadMonitors(db, partition, monitorIds)))
  const incidents = await query<{ monitorId: string | null; title: string; startedMs: number; isResolved: boolean }>(
    db,
    `SELECT cause_monitor_id AS "monitorId", title, ${MS_OF('started_at')} AS "startedMs",
       resolved_at IS NOT NULL AS "isResolved" FROM incidents WHERE source = 'manual' OR cause_monitor_id = ANY(?) ORDER BY id`,
    [monitorIds],
  )
  return {
    monitors: monitors.flat(),
    transitions: await query(
      db,
      `SELECT monitor_id AS "monitorId", from_status AS "from", to_status AS "to", ${MS_OF('at')} AS "atMs", quorum
       FROM transitions WHERE monitor_id = ANY(?) ORDER BY at, id`,
      [monitorIds],
    ),
    absentRegions: (
      await query<{ region: string }>(db, 'SELECT region FROM region_epochs WHERE absent_from IS NOT NULL')
    ).map(({ region }) => region),
    incidents: incidents.flatMap(({ monitorId, startedMs, isResolved }) =>
      monitorId === null ? [] : { monitorId, startedMs, isResolved },
    ),
    reports: incidents.flatMap(({ monitorId, title }) => (monitorId === null ? title : [])),
    deliveries: await query(
      db,
      `SELECT d.id, d.status, d.event_name AS event, e.data->'monitor'->>'id' AS "monitorId",
         ${MS_OF('e.occurred_at')} AS "occurredMs", d.attempts
       FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE e.project_id = (SELECT project_id FROM monitors WHERE id = ?) ORDER BY d.seq`,
      [monitorIds[0]!],
    ),
    ...(await readHistory(clickhouseUrl)),
  }
}

type HistoryRow = { key: string; status: string; copies: string }

/** Reads with FINAL, so rows are deduplicated as in production queries. */
async function readHistory(url: string): Promise<{ history: Map<string, string>; historyTwice: number }> {
  const clickhouse = createClickhouse(url)
  try {
    const rows = await select<HistoryRow>(
      clickhouse,
      `SELECT concat(toString(monitor_id), ' ', region, ' ', toString(toUnixTimestamp64Milli(scheduled_at)), ' ',
         toString(attempt), ' ', probe_id, ' ', toString(epoch)) AS key, any(toString(status)) AS status,
         count() AS copies FROM results FINAL GROUP BY key`,
    )
    const historyTwice = rows.filter(({ copies }) => Number(copies) > 1).length
    return { history: new Map(rows.map(({ key, status }) => [key, status])), historyTwice }
  } finally {
    await clickhouse.close()
  }
}
