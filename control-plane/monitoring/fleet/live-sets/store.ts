import { type Db, execute, query, queryPrepared, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { HISTORY_POSITION_SQL, type HistoryPosition } from '../../monitors/store.ts'
import type { RegionEpoch } from '../assignments/assignment-table.ts'
import { REVOKED_PROBES_SQL } from '../probes/enrolment-store.ts'
import type { StoredStates } from '../sessions/messages.ts'
import { PROBES_AHEAD_SQL } from './clock-step-store.ts'
import { EPOCH_ORIGIN_S, MAX_CLOCK_EPOCH } from './epochs.ts'
import type { ProbeState } from './live-set.ts'

/** Probes belong to the operator, not to a project: none of these statements reads a tenant's data. */

/** `connectedTo` identifies one connection, so it is never confused with a newer one of the same probe. */
type ProbeActivity = { id: string; connectedTo: string; silentMs: number; health: object | null }

/** Why a connection ended: its probe was revoked, or has connected to another process. */
type SessionLossReason = 'revoked' | 'superseded'

/**
 * Records in one statement when the probes of one process sent their last message. Returns the probes that are no longer
 * connected to this process, by id, with the reason.
 */
export async function recordActivity(db: Db, seen: ProbeActivity[]): Promise<Map<string, SessionLossReason>> {
  const rows = await queryPrepared<{ id: string }>(
    db,
    'probe-activity',
    `UPDATE probes SET
       last_seen_at = LEAST(now(), GREATEST(last_seen_at, now() - s."silentMs" * interval '1 millisecond')),
       health = COALESCE(s.health, probes.health)
     FROM jsonb_to_recordset(?::jsonb) AS s (id uuid, "connectedTo" text, "silentMs" double precision, health jsonb),
       probe_tokens t
     WHERE probes.id = s.id AND probes.connected_to = s."connectedTo"
       AND probes.revoked_at IS NULL AND t.id = probes.token_id AND t.revoked_at IS NULL
     RETURNING probes.id`,
    [JSON.stringify(seen)],
  )
  const recorded = new Set(rows.map(row => row.id))
  const lost = seen.filter(({ id }) => !recorded.has(id)).map(({ id }) => id)
  if (lost.length === 0) return new Map()
  const revoked = await query<{ id: string }>(
    db,
    `SELECT p.id FROM probes p JOIN probe_tokens t ON t.id = p.token_id
     WHERE p.id = ANY (?::uuid[]) AND (p.revoked_at IS NOT NULL OR t.revoked_at IS NOT NULL)`,
    [lost],
  )
  const isRevoked = new Set(revoked.map(row => row.id))
  return new Map(lost.map(id => [id, isRevoked.has(id) ? 'revoked' : 'superseded']))
}

/** Marks a probe that is stopping: it gets no work until it connects again. */
export async function markDraining(db: Db, probeId: string, connectedTo: string): Promise<void> {
  await execute(db, 'UPDATE probes SET is_draining = true WHERE id = ? AND connected_to = ?', [probeId, connectedTo])
}

/** Records that connections were closed. Probes that have connected again since are not affected. */
export async function markDisconnected(db: Db, connectedTo: string[]): Promise<void> {
  await execute(db, 'UPDATE probes SET connected_to = NULL WHERE connected_to = ANY (?::text[])', [connectedTo])
}

const PROBE_STATES_SQL = `
  SELECT p.id, p.region, EXTRACT(EPOCH FROM now() - p.last_seen_at)::float8 * 1000 AS "silentMs",
    EXTRACT(EPOCH FROM now() - p.connected_at)::float8 * 1000 AS "steadyMs",
    p.connected_to IS NOT NULL AS "isConnected", p.connected_at = p.created_at AS "isNew",
    p.is_draining AS "isDraining", COALESCE(p.revoked_at, t.revoked_at) IS NOT NULL AS "isRevoked",
    COALESCE(p.drained_until > now(), false) AS "isDrained", p.capabilities,
    COALESCE((p.health->>'nats_away_ms')::float8, 0) AS "natsAwayMs",
    COALESCE((p.health->>'offline_ms')::float8, 0) AS "offlineMs"
  FROM probes p JOIN probe_tokens t ON t.id = p.token_id LEFT JOIN region_epochs e ON e.region = p.region
  WHERE (:region::text IS NULL OR p.region = :region)
    AND (p.last_seen_at > now() - interval '1 hour' OR p.id = ANY (e.probe_ids))`

/** `isAbsent`: no probe of the region can publish, as far as it is recorded. */
export type StoredLiveSet = RegionEpoch & { isAbsent: boolean }

const REGION_EPOCHS_SQL = `
  SELECT region, epoch, absent_from IS NOT NULL AND absent_until IS NULL AS "isAbsent",
    COALESCE((SELECT jsonb_agg(jsonb_build_object('id', p.id, 'capabilities', to_jsonb(p.capabilities)) ORDER BY p.id)
      FROM probes p WHERE p.id = ANY (probe_ids)), '[]') AS probes
  FROM region_epochs WHERE :region::text IS NULL OR region = :region`

/** Lists the probes of all regions, or of one. Probes that were last seen over an hour ago and are not live are left out. */
export function listProbeStates(db: Db, region: string | null): Promise<ProbeState[]> {
  return query(db, PROBE_STATES_SQL, { region })
}

/** Lists the live sets of all regions, or of one, with the capabilities of their probes. */
export function listRegionEpochs(db: Db, region: string | null = null): Promise<StoredLiveSet[]> {
  return query(db, REGION_EPOCHS_SQL, { region })
}

/**
 * `history`: the position of the database, which shows changes of monitors. `revoked`: ids of the probes that were revoked
 * within some time. `areTimesAhead`: PostgreSQL's clock was set back (clock-step-store.ts).
 */
export type FleetState = {
  epochs: StoredLiveSet[]
  states: ProbeState[]
  history: HistoryPosition
  revoked: string[]
  areTimesAhead: boolean
  /** PostgreSQL's time */
  nowMs: number
}

/** Everything that a round of the fleet follows, in one statement. */
export async function loadFleetState(db: Db, region: string | null, revokedWithinMs: number): Promise<FleetState> {
  const [row] = await queryPrepared<{ [K in keyof FleetState]: FleetState[K] | null }>(
    db,
    'fleet-state',
    `SELECT (SELECT jsonb_agg(e) FROM (${REGION_EPOCHS_SQL}) e) AS epochs,
       (SELECT jsonb_agg(s) FROM (${PROBE_STATES_SQL}) s) AS states,
       (SELECT to_jsonb(h) FROM (${HISTORY_POSITION_SQL}) h) AS history,
       (SELECT jsonb_agg(r.id) FROM (${REVOKED_PROBES_SQL}) r) AS revoked,
       EXISTS (${PROBES_AHEAD_SQL}) AS "areTimesAhead",
       extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`,
    { region, withinMs: revokedWithinMs },
  )
  const { epochs, states, history, revoked, areTimesAhead, nowMs } = row!
  return {
    epochs: epochs ?? [],
    states: states ?? [],
    history: history!,
    revoked: revoked ?? [],
    areTimesAhead: areTimesAhead!,
    nowMs: nowMs!,
  }
}

/** Locks a region's live set until the transaction ends and returns its probe ids. Creates an empty set when there is none. */
export async function lockLiveSet(tx: Tx, region: string): Promise<string[]> {
  await execute(
    tx,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at) VALUES (?, 0, '{}', now()) ON CONFLICT DO NOTHING`,
    [region],
  )
  const rows = await query<{ probeIds: string[] }>(
    tx,
    `SELECT probe_ids AS "probeIds" FROM region_epochs WHERE region = ? FOR UPDATE`,
    [region],
  )
  return rows[0]!.probeIds
}

/** Seconds since 2026. A clock that is decades ahead does not exhaust the numbers. */
const EPOCH_NOW = `CAST(LEAST(extract(epoch FROM clock_timestamp()) - ${EPOCH_ORIGIN_S}, ${MAX_CLOCK_EPOCH}) AS integer)`

/**
 * Saves a live set with the next epoch, which is higher than `above`, and notifies every fleet process. An epoch is a time,
 * so that a database which was restored to an earlier state does not reuse a number.
 */
export async function saveRegionEpoch(tx: Tx, region: string, probeIds: string[], above = 0): Promise<void> {
  await execute(
    tx,
    `WITH saved AS (UPDATE region_epochs SET epoch = GREATEST(epoch + 1, CAST(:above AS integer) + 1, ${EPOCH_NOW}),
         probe_ids = CAST(:probeIds AS uuid[]), updated_at = now()
       WHERE region = :region RETURNING region)
     SELECT pg_notify('region_epochs', region) FROM saved`,
    { region, probeIds, above },
  )
}

type RegionCounts = { region: string; monitors: number; unassigned: number }

/** Records the counts that changed. Every fleet process has the same counts, so each may write them. */
export async function recordRegionCounts(db: Db, counts: RegionCounts[]): Promise<void> {
  await execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at, monitors, unassigned)
     SELECT region, 0, '{}', now(), monitors, unassigned
     FROM jsonb_to_recordset(?::jsonb) AS c (region text, monitors integer, unassigned integer)
     WHERE NOT EXISTS (SELECT FROM region_epochs e
                       WHERE e.region = c.region AND e.monitors = c.monitors AND e.unassigned = c.unassigned)
       AND (c.monitors > 0 OR EXISTS (SELECT FROM region_epochs e WHERE e.region = c.region))
     ORDER BY region
     ON CONFLICT (region) DO UPDATE SET monitors = EXCLUDED.monitors, unassigned = EXCLUDED.unassigned`,
    [JSON.stringify(counts)],
  )
}

/**
 * Loads what the verdict has stored of some monitors: the state of one region, null when it has none of that region. A region
 * that fails in doubt is pending: with `failing` its probe would make no re-checks after a change of the target, which ends the
 * doubt.
 */
export async function loadStoredStates(db: Db, region: string, monitorIds: string[]): Promise<StoredStates> {
  if (monitorIds.length === 0) return new Map()
  const rows = await query<{ id: string; regionState: string | null }>(
    db,
    `SELECT monitor_id AS id,
       (SELECT CASE WHEN cell->'doubt'->'settledBy' = 'null' AND cell->>'state' = 'failing' THEN 'pending'
                    ELSE cell->>'state' END
        FROM jsonb_array_elements(state->'cells') cell WHERE cell->>'region' = :region) AS "regionState"
     FROM verdict_states WHERE monitor_id = ANY (:monitorIds::uuid[])`,
    { region, monitorIds },
  )
  return new Map(rows.map(row => [row.id, row]))
}
