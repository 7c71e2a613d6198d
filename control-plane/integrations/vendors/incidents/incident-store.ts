import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { VendorIncident } from '../types.ts'

const COLUMNS = `
  id, project_id AS "projectId", dependency_id AS "dependencyId", source_id AS "sourceId", title, severity, status,
  components, source_url AS "sourceUrl", started_at AS "startedAt", resolved_at AS "resolvedAt", worst,
  told AS announced, told_at AS "announcedAt", missing, created_at AS "createdAt", updated_at AS "updatedAt"`

/** Returns a page of a dependency's incidents, newest first, and their total number. */
export async function listVendorIncidents(
  db: Db,
  dependencyId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: VendorIncident[]; total: number }> {
  const rows = await query<VendorIncident>(
    db,
    `SELECT ${COLUMNS} FROM vendor_incidents WHERE dependency_id = :dependencyId ORDER BY id DESC
     LIMIT :limit OFFSET :offset`,
    { dependencyId, ...page },
  )
  const [count] = await query<{ total: number }>(
    db,
    'SELECT count(*) AS total FROM vendor_incidents WHERE dependency_id = ?',
    [dependencyId],
  )
  return { rows, total: count?.total ?? 0 }
}

/** Returns the open incidents of dependencies, and those with ids that a feed reports. Newest first. */
export function listKnownIncidents(tx: Tx, dependencyIds: string[], sourceIds: string[]): Promise<VendorIncident[]> {
  return query(
    tx,
    `SELECT ${COLUMNS} FROM vendor_incidents
     WHERE dependency_id = ANY (?::uuid[]) AND (resolved_at IS NULL OR source_id = ANY (?::text[])) ORDER BY id DESC`,
    [dependencyIds, sourceIds],
  )
}

/** Counts the beginnings of incidents that were announced for each dependency between two times. */
export async function countNotifications(
  tx: Tx,
  dependencyIds: string[],
  { since, until }: { since: Date; until: Date },
): Promise<Map<string, number>> {
  const rows = await query<{ dependencyId: string; announced: number }>(
    tx,
    `SELECT dependency_id AS "dependencyId", count(*) AS announced FROM vendor_incidents
     WHERE dependency_id = ANY (?::uuid[]) AND told_at > ? AND told_at <= ? GROUP BY dependency_id`,
    [dependencyIds, since, until],
  )
  return new Map(rows.map(({ dependencyId, announced }) => [dependencyId, announced]))
}

/** Inserts and updates incidents in one statement. */
export async function saveIncidents(tx: Tx, incidents: VendorIncident[]): Promise<void> {
  if (incidents.length === 0) return
  await execute(
    tx,
    `INSERT INTO vendor_incidents (id, project_id, dependency_id, source_id, title, severity, status, components,
       source_url, started_at, resolved_at, worst, told, told_at, missing, created_at, updated_at)
     SELECT id, "projectId", "dependencyId", "sourceId", title, severity, status, components, "sourceUrl", "startedAt",
       "resolvedAt", worst, announced, "announcedAt", missing, "createdAt", "updatedAt"
     FROM jsonb_to_recordset(?::jsonb) AS row
       (id uuid, "projectId" uuid, "dependencyId" uuid, "sourceId" text, title text, severity text, status text,
        components text[], "sourceUrl" text, "startedAt" timestamptz, "resolvedAt" timestamptz, worst text, announced text,
        "announcedAt" timestamptz, missing integer, "createdAt" timestamptz, "updatedAt" timestamptz)
     ON CONFLICT (id) DO UPDATE SET source_id = excluded.source_id, title = excluded.title,
       severity = excluded.severity, status = excluded.status, components = excluded.components,
       source_url = excluded.source_url, resolved_at = excluded.resolved_at, worst = excluded.worst,
       told = excluded.told, told_at = excluded.told_at, missing = excluded.missing, updated_at = excluded.updated_at`,
    [JSON.stringify(incidents)],
  )
}

/** Closes the open incidents of a dependency whose feed has changed, without an event. */
export async function closeIncidents(tx: Tx, dependencyId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE vendor_incidents SET status = 'resolved', resolved_at = greatest(:now, started_at), told = 'end',
       updated_at = :now
     WHERE dependency_id = :dependencyId AND resolved_at IS NULL`,
    { dependencyId, now },
  )
}

/** Deletes the oldest closed incidents beyond `kept` for each dependency, except those announced since a time. */
export async function deleteOldIncidents(tx: Tx, dependencyIds: string[], kept: number, since: Date): Promise<void> {
  await execute(
    tx,
    `DELETE FROM vendor_incidents USING (
       SELECT id, row_number() OVER (PARTITION BY dependency_id ORDER BY id DESC) AS place
       FROM vendor_incidents WHERE dependency_id = ANY (?::uuid[])
     ) placed
     WHERE vendor_incidents.id = placed.id AND place > ? AND resolved_at IS NOT NULL
       AND (told_at IS NULL OR told_at <= ?)`,
    [dependencyIds, kept, since],
  )
}
