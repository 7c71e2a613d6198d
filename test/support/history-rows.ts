import type { Clickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import type { Result } from '../../shared/checks/result.ts'
import { insertLines } from './insert-lines.ts'
import { buildArrival } from './results.ts'

/** Transitions of each monitor, as the verdict stores them: when, and to which status. */
export async function insertTransitions(db: Db, ids: string[], transitions: [Date, string | null][]): Promise<void> {
  await execute(
    db,
    `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
     SELECT gen_random_uuid(), m.project_id, m.id, row.status, row.at, 'full', '', '{}', now()
     FROM monitors m, jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (status text, at timestamptz)
     WHERE m.id = ANY(CAST(:ids AS uuid[]))`,
    { ids, rows: JSON.stringify(transitions.map(([at, status]) => ({ status, at }))) },
  )
}

/** A period of maintenance, as the worker plans it. */
export async function insertPeriod(db: Db, projectId: string, monitorId: string, from: Date, to: Date): Promise<void> {
  await execute(
    db,
    `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at)
     VALUES (:projectId, :monitorId, gen_random_uuid(), :from, :to)`,
    { projectId, monitorId, from, to },
  )
}

const PROBE = '01a1fb92-bd2c-74bd-b89d-7c289ceb0470'

/** Results in ClickHouse, as the recorder stores them. */
export const recordResults = (clickhouse: Clickhouse, results: Result[], region = 'us-east'): Promise<void> =>
  insertLines(
    clickhouse,
    `results (${RESULT_LINE_COLUMNS})`,
    results.map((result, i) =>
      toResultLine(result, encodeOrigin({ region, probeId: PROBE }), buildArrival(result, i + 1)),
    ),
  )
