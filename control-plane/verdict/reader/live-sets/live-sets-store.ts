import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { EpochSpan, RegionLiveSet } from './live-sets.ts'

/** When the region's newest absence began and ended, which names it, and how long ago that was; null: it did not. */
export type RegionEpochRow = {
  region: string
  epoch: number
  absentFrom: string | null
  absentUntil: string | null
  absentForMs: number | null
  backForMs: number | null
}

/** An absence that ended long ago says nothing: votes before it have ended by their age. */
export function loadRegionEpochs(db: Db): Promise<RegionEpochRow[]> {
  return query(
    db,
    `SELECT region, epoch, CAST(absent_from AS text) AS "absentFrom", CAST(absent_until AS text) AS "absentUntil",
       CAST(extract(epoch FROM now() - absent_until) * 1000 AS float8) AS "backForMs",
       CASE WHEN absent_until IS NULL OR absent_until > now() - interval '4 hours'
         THEN CAST(extract(epoch FROM now() - absent_from) * 1000 AS float8) END AS "absentForMs"
     FROM region_epochs`,
  )
}

type Row = { region: string; epoch: number; live: { id: string; from: number; until: number | null }[] }

/** Who was live in some regions, and their epochs, as of one moment. */
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
