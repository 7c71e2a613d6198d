import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { StoredProbe, StoredRegion } from './probe-record.ts'

/** Probes belong to the operator, not to a project: none of these statements reads a tenant's data. */

/** Work moves within 15 s. A probe that has been silent for longer is not live, even when it is in the live set. */
const IS_LIVE = `(COALESCE(p.id = ANY (e.probe_ids), false) AND p.last_seen_at > now() - interval '15 seconds')`

const PROBE = `p.id, p.name, p.region, p.version, p.capabilities, p.health, p.created_at, p.connected_at, p.last_seen_at,
  ${IS_LIVE} AS is_live,
  p.connected_to IS NOT NULL AND p.last_seen_at > now() - interval '15 seconds' AS is_connected,
  p.is_draining, p.drain_reason, CASE WHEN p.drained_until > now() THEN p.drained_until END AS drained_until,
  COALESCE(p.revoked_at, t.revoked_at) IS NOT NULL AS is_revoked`

const IN_REGION = ':region::text IS NULL OR p.region = :region'

/** Lists one page of all probes that ever connected, or of those of a region, newest first, and counts all of them. */
export async function listProbePage(
  db: Db,
  region: string | null,
  page: { limit: number; offset: number },
): Promise<{ probes: StoredProbe[]; total: number }> {
  const [counted, probes] = await Promise.all([
    query<{ total: number }>(db, `SELECT count(*) AS total FROM probes p WHERE ${IN_REGION}`, { region }),
    query<StoredProbe>(
      db,
      `SELECT ${PROBE} FROM probes p JOIN probe_tokens t ON t.id = p.token_id
         LEFT JOIN region_epochs e ON e.region = p.region
       WHERE ${IN_REGION} ORDER BY p.id DESC LIMIT :limit OFFSET :offset`,
      { region, ...page },
    ),
  ])
  return { probes, total: counted[0]!.total }
}

/** Lists the given regions, in the given order. Times are those of the database. */
export function listRegions(db: Db, regions: readonly string[]): Promise<StoredRegion[]> {
  return query(
    db,
    `SELECT r.region, COALESCE(e.epoch, 0) AS epoch, COALESCE(e.monitors, 0) AS monitors,
       COALESCE(e.unassigned, 0) AS unassigned, live.probes AS live_probes,
       seen.drained AS drained_probes, live.lag_ms AS worst_loop_lag_ms,
       CASE WHEN live.probes > 0 THEN NULL WHEN cardinality(e.probe_ids) > 0 THEN seen.last_at ELSE e.updated_at END
         AS no_live_probe_since,
       seen.last_at AS last_heartbeat_at, now() AS read_at
     FROM unnest(CAST(:regions AS text[])) WITH ORDINALITY AS r (region, place)
     LEFT JOIN region_epochs e ON e.region = r.region
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS probes, max((p.health->>'loop_lag_ms')::float8) AS lag_ms
       FROM probes p WHERE p.region = r.region AND ${IS_LIVE}
     ) live
     CROSS JOIN LATERAL (
       SELECT max(p.last_seen_at) AS last_at,
         count(*) FILTER (WHERE p.drained_until > now() AND p.connected_to IS NOT NULL)::integer AS drained
       FROM probes p WHERE p.region = r.region
     ) seen
     ORDER BY r.place`,
    { regions: [...regions] },
  )
}
