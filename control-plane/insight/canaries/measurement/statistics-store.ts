import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { FailureKind } from '../schedule.ts'

/** Seconds; null: the failure at this percentile was not detected or not reported. */
export type Percentiles = { p50: number | null; p95: number | null; p99: number | null }

/** Planned failures of one kind over all regions. `compared`: those that were compared with the guarantee. */
export type OutageStatistics = {
  kind: FailureKind
  outages: number
  compared: number
  misses: number
  down: Percentiles
  message: Percentiles
}

/** `lateSeconds` null: it was not detected, or no alert arrived. */
export type MissedGuarantee = { kind: FailureKind; startedAt: Date; lateSeconds: number | null }

type Row = Omit<OutageStatistics, 'down' | 'message'> & { down: number[]; message: number[] }

/**
 * The measurements of failures since `since` that had a guarantee. A failure that was never detected counts as the
 * slowest.
 */
export async function loadOutageStatistics(db: Db, since: Date): Promise<OutageStatistics[]> {
  const rows = await query<Row>(
    db,
    `SELECT kind, count(*)::integer AS outages, count(guarantee)::integer AS compared,
       count(*) FILTER (WHERE guarantee = 'missed')::integer AS misses,
       percentile_disc(CAST('{0.5,0.95,0.99}' AS float8[])) WITHIN GROUP (ORDER BY coalesce(down, 'Infinity')) AS down,
       percentile_disc(CAST('{0.5,0.95,0.99}' AS float8[])) WITHIN GROUP (ORDER BY coalesce(message, 'Infinity')) AS message
     FROM canary_outages o CROSS JOIN LATERAL (
       SELECT min(seconds) FILTER (WHERE stage = 'status') AS down, min(seconds) FILTER (WHERE stage = 'alert') AS message
       FROM jsonb_to_recordset(o.stages) AS s(turn text, stage text, seconds float8) WHERE turn = 'down') AS measured
     WHERE started_at >= ? AND outcome <> 'unmeasured' AND guarantee IS DISTINCT FROM 'none'
     GROUP BY kind`,
    [since],
  )
  return rows.map(row => ({ ...row, down: toPercentiles(row.down), message: toPercentiles(row.message) }))
}

function toPercentiles(seconds: number[]): Percentiles {
  const [p50, p95, p99] = seconds.map(value => (Number.isFinite(value) ? value : null)) as [number, number, number]
  return { p50, p95, p99 }
}

/** The newest failure that was reported later than guaranteed, or never. */
export async function findLastMiss(db: Db, since: Date): Promise<MissedGuarantee | null> {
  const [row] = await query<MissedGuarantee>(
    db,
    `SELECT kind, started_at AS "startedAt", late_seconds AS "lateSeconds" FROM canary_outages
     WHERE started_at >= ? AND guarantee = 'missed' ORDER BY started_at DESC LIMIT 1`,
    [since],
  )
  return row ?? null
}
