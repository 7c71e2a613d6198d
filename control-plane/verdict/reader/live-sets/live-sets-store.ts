import { type Db, query, queryPrepared } from '../../../foundation/platform/postgres/client.ts'
import { HISTORY_POSITION_SQL, type HistoryPosition } from '../../../monitoring/monitors/store.ts'
import type { EpochSpan, RegionLiveSet } from './live-sets.ts'

/**
 * A region's epoch, and its newest absence: begin and end as texts, which identify it, and how long ago. null: none.
 */
export type RegionEpochRow = {
  region: string
  epoch: number
  absentFrom: string | null
  absentUntil: string | null
  absentForMs: number | null
  backForMs: number | null
}

const REGION_EPOCHS_SQL = `
  SELECT region, epoch, CAST(absent_from AS text) AS "absentFrom", CAST(absent_until AS text) AS "absentUntil",
    CAST(extract(epoch FROM now() - absent_until) * 1000 AS float8) AS "backForMs",
    CASE WHEN absent_until IS NULL OR absent_until > now() - interval '4 hours'
      THEN CAST(extract(epoch FROM now() - absent_from) * 1000 AS float8) END AS "absentForMs"
  FROM region_epochs`

/** Leaves out absences that ended more than 4 hours ago: votes before them have expired. */
export function loadRegionEpochs(db: Db): Promise<RegionEpochRow[]> {
  return query(db, REGION_EPOCHS_SQL)
}

type FollowResult = { rows: RegionEpochRow[]; history: HistoryPosition; nowMs: number }

/**
 * The same with the position of the database, which shows changes of monitors, and with its time: what a process of the role
 * follows.
 */
export async function loadFollowed(db: Db): Promise<FollowResult> {
  const [row] = await queryPrepared<Omit<FollowResult, 'rows'> & { rows: RegionEpochRow[] | null }>(
    db,
    'verdict-followed',
    `SELECT (SELECT jsonb_agg(e) FROM (${REGION_EPOCHS_SQL}) e) AS rows,
       (SELECT to_jsonb(h) FROM (${HISTORY_POSITION_SQL}) h) AS history,
       CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS "nowMs"`,
  )
  return { ...row!, rows: row!.rows ?? [] }
}

type Row = { region: string; epoch: number; live: { id: string; from: number; until: number | null }[] }

/** The epochs and live probes of regions, in one snapshot. */
export async function loadLiveSets(db: Db, regions: string[]): Promise<[string, RegionLiveSet][]> {
  const rows = await query<Row>(
    db,
    `SELECT region, epoch, COALESCE((
       SELECT jsonb_agg(jsonb_build_object('id', probe_id, 'from', from_epoch, 'until', until_epoch))
       FROM live_probes l WHERE l.region = e.region), '[]') AS live
     FROM region_epochs e WHERE region = ANY (?::text[])`,
    [regions],
  )
  return rows.map(({ region, epoch, live }) => [region, { epoch, spans: groupSpans(live) }])
}

function groupSpans(live: Row['live']): Map<string, EpochSpan[]> {
  const spans = new Map<string, EpochSpan[]>()
  for (const { id, from, until } of live) {
    const known = spans.get(id) ?? []
    spans.set(id, [...known, { from, until: until ?? Number.POSITIVE_INFINITY }])
  }
  return spans
}
