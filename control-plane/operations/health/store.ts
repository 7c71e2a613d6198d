import { type Db, query } from '../../foundation/platform/postgres/client.ts'
import type { ForeignReportFact, PartitionFact, PostgresFacts, ProbeFact, StandbyFact } from './facts.ts'

/** Queries for the whole installation. None of them returns data of a tenant. */

const epochMsSql = (column: string) => `CAST(extract(epoch FROM ${column}) * 1000 AS float8)`

export async function loadServerNow(db: Db): Promise<{ nowMs: number; isReadOnly: boolean }> {
  const rows = await query<{ nowMs: number; isReadOnly: boolean }>(
    db,
    `SELECT ${epochMsSql('clock_timestamp()')} AS "nowMs", 
       current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  )
  return rows[0]!
}

export function loadPartitionFacts(db: Db): Promise<PartitionFact[]> {
  return query(
    db,
    `SELECT id, owner IS NOT NULL AND coalesce(lease_until > clock_timestamp(), false) AS "hasOwner",
       ${epochMsSql('lease_until')} AS "leaseUntilMs", position, ${epochMsSql('position_taken_at')} AS "positionAtMs",
       stream_created AS "streamCreated"
     FROM partitions ORDER BY id`,
  )
}

/** Probes in a live set, from their newest heartbeat. */
export function loadLiveProbeFacts(db: Db): Promise<ProbeFact[]> {
  return query(
    db,
    `SELECT p.name, p.region, coalesce((p.health->>'spool_results')::float8, 0) AS "spoolResults",
       coalesce((p.health->>'dropped_results')::float8, 0) AS "droppedResults",
       (p.health->>'connectivity_ok')::boolean AS "connectivityOk"
     FROM region_epochs e JOIN probes p ON p.id = ANY (e.probe_ids)
     WHERE p.last_seen_at > now() - interval '15 seconds' ORDER BY p.region, p.name`,
  )
}

/** Refused reports of the last day. Only the log of the role `record` names the monitors. */
export function loadForeignReportFacts(db: Db): Promise<ForeignReportFact[]> {
  return query(
    db,
    `SELECT f.region, f.what, f.amount::float8 AS amount, coalesce(p.name, CAST(f.probe_id AS text)) AS probe,
       ${epochMsSql('f.first_at')} AS "firstAtMs", ${epochMsSql('f.last_at')} AS "lastAtMs"
     FROM foreign_reports f LEFT JOIN probes p ON p.id = f.probe_id AND p.region = f.region
     WHERE f.last_at > clock_timestamp() - interval '1 day' ORDER BY f.region, f.what`,
  )
}

type WorkFacts = Pick<
  PostgresFacts,
  'deliveriesDue' | 'fanOuts' | 'heartbeats' | 'lastTransitionAtMs' | 'plannedOutages'
>

/**
 * `deliveriesDue`: lanes whose next attempt is due, of projects without a delivery in flight, because a project with more
 * alerts than its share of places waits for its own deliveries. `plannedOutages`: failures of canaries, which are monitors of
 * the operator, not of a tenant. One statement, because the role `schedule` reads these facts all the time.
 */
export async function loadWorkFacts(db: Db): Promise<WorkFacts> {
  const [row] = await query<WorkFacts>(
    db,
    `SELECT
       (SELECT jsonb_build_object('count', count(*), 'sinceMs', ${epochMsSql('min(next_attempt_at)')})
        FROM delivery_lanes l
        WHERE next_attempt_at <= clock_timestamp() AND NOT EXISTS (
          SELECT FROM delivery_lanes o
          WHERE o.project_id = l.project_id AND o.lease_owner IS NOT NULL AND o.next_attempt_at > clock_timestamp())
       ) AS "deliveriesDue",
       (SELECT jsonb_build_object('count', count(*), 'sinceMs', ${epochMsSql('min(noted_at)')}) FROM fan_outs) AS "fanOuts",
       (SELECT jsonb_build_object(
          'monitors', (SELECT count(*) FROM heartbeats WHERE due_at IS NOT NULL),
          'listeningAtMs', ${epochMsSql('listening_at')})
        FROM heartbeat_intake) AS heartbeats,
       -- ids sort by time, so the index finds the newest one
       (SELECT ${epochMsSql('created_at')} FROM transitions ORDER BY id DESC LIMIT 1) AS "lastTransitionAtMs",
       (SELECT jsonb_build_object(
          'kept', count(*) FILTER (WHERE guarantee = 'kept'),
          'missed', count(*) FILTER (WHERE guarantee = 'missed'),
          'lastMiss', (array_agg(jsonb_build_object('kind', kind, 'startedAtMs', ${epochMsSql('started_at')},
             'measuredAtMs', ${epochMsSql('created_at')}, 'lateSeconds', late_seconds) ORDER BY started_at DESC)
           FILTER (WHERE guarantee = 'missed'))[1])
        FROM canary_outages WHERE started_at > clock_timestamp() - interval '1 day') AS "plannedOutages"`,
  )
  return row!
}

/**
 * Connected standbys, and the slots of disconnected ones. Base backups and subscribers of logical slots do not count.
 * A user without pg_monitor can read only the names.
 */
export function loadStandbyFacts(db: Db): Promise<StandbyFact[]> {
  return query(
    db,
    `SELECT application_name AS name, true AS "isConnected", state,
       CAST(extract(epoch FROM replay_lag) * 1000 AS float8) AS "behindMs"
     FROM pg_stat_replication
     WHERE state IS DISTINCT FROM 'backup' AND NOT EXISTS (
       SELECT FROM pg_replication_slots WHERE active_pid = pid AND slot_type = 'logical')
     UNION ALL
     SELECT CAST(slot_name AS text), false, NULL, NULL FROM pg_replication_slots
     WHERE slot_type = 'physical' AND NOT active
     ORDER BY name`,
  )
}
