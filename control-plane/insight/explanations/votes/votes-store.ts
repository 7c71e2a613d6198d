import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { SuppressionReason } from '../../../verdict/suppression/review.ts'

/** The newest usable checkpoint of a partition, and the stored position; all null before the first result. */
type PartitionProgress = { data: Uint8Array | null; takenAtMs: number | null; positionAt: Date | null }

export async function findPartitionProgress(db: Db, partition: number): Promise<PartitionProgress> {
  const [row] = await query<PartitionProgress>(
    db,
    `SELECT c.data, CAST(extract(epoch FROM c.position_taken_at) * 1000 AS float8) AS "takenAtMs",
       p.position_taken_at AS "positionAt"
     FROM partitions p LEFT JOIN partition_checkpoints c
       ON c.partition = p.id AND c.stream_created = p.stream_created AND c.position <= p.position
     WHERE p.id = ?`,
    [partition],
  )
  return row ?? { data: null, takenAtMs: null, positionAt: null }
}

export async function findLastTransitionId(db: Db, projectId: string, monitorId: string): Promise<string | null> {
  const [row] = await query<{ id: string }>(
    db,
    `SELECT id FROM transitions WHERE project_id = ? AND monitor_id = ? ORDER BY at DESC, id DESC LIMIT 1`,
    [projectId, monitorId],
  )
  return row?.id ?? null
}

/** A maintenance window in progress. `name` is null when the window was deleted. */
export type CurrentMaintenance = { id: string; name: string | null; until: Date }

const MAX_SILENCING = 20

export function listCurrentMaintenance(
  db: Db,
  projectId: string,
  monitorId: string,
  now: Date,
): Promise<CurrentMaintenance[]> {
  return query(
    db,
    `SELECT p.window_id AS id, w.title AS name, max(p.ends_at) AS until
     FROM maintenance_periods p LEFT JOIN maintenance_windows w ON w.id = p.window_id
     WHERE p.project_id = :projectId AND p.monitor_id = :monitorId AND p.starts_at <= :now AND p.ends_at > :now
     GROUP BY 1, 2 ORDER BY until DESC, id LIMIT :limit`,
    { projectId, monitorId, now, limit: MAX_SILENCING },
  )
}

/** A silence in force that people created. `name`: its reason. */
export type CurrentSilence = { id: string; name: string | null; until: Date }

export function listCurrentSilences(
  db: Db,
  projectId: string,
  monitorId: string,
  now: Date,
): Promise<CurrentSilence[]> {
  return query(
    db,
    `SELECT s.id, s.reason AS name, s.ends_at AS until
     FROM alert_silence_monitors sm JOIN alert_silences s ON s.id = sm.silence_id
     WHERE sm.monitor_id = :monitorId AND s.project_id = :projectId AND s.ends_at > :now
     ORDER BY until DESC, s.id LIMIT :limit`,
    { projectId, monitorId, now, limit: MAX_SILENCING },
  )
}

/** The ancestors of a monitor that are down, the nearest first. */
export function listDownAncestors(
  db: Db,
  projectId: string,
  monitorId: string,
): Promise<{ id: string; name: string }[]> {
  return query(
    db,
    `SELECT a.id, a.name FROM ancestors_of(ARRAY[:monitorId::uuid]) line JOIN monitors a ON a.id = line.ancestor_id
     WHERE a.project_id = :projectId AND a.status = 'down' ORDER BY line.distance, a.id LIMIT :limit`,
    { projectId, monitorId, limit: MAX_SILENCING },
  )
}

/** Withheld alerts of a monitor, and why they wait. */
export type StoredSilence = { reason: SuppressionReason | 'turn'; graceUntil: Date | null; doubtUntil: Date | null }

export async function findStoredSilence(db: Db, monitorId: string): Promise<StoredSilence | null> {
  const [row] = await query<StoredSilence>(
    db,
    `SELECT reason, grace_until AS "graceUntil", doubt_until AS "doubtUntil" FROM silences WHERE monitor_id = ?`,
    [monitorId],
  )
  return row ?? null
}
