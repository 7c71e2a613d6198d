import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { StoredOverride } from './dependency-override.ts'

export const OVERRIDE_COLUMNS = `
  dependency_id AS "dependencyId", alert_channel_id AS "alertChannelId", on_down AS "onDown",
  on_degraded AS "onDegraded", on_resolved AS "onResolved"`

/** The overrides of dependencies. */
export async function listOverrides(db: Db, dependencyIds: string[]): Promise<StoredOverride[]> {
  if (dependencyIds.length === 0) return []
  return query(
    db,
    `SELECT ${OVERRIDE_COLUMNS} FROM dependency_overrides WHERE dependency_id = ANY (?::uuid[]) ORDER BY dependency_id, alert_channel_id`,
    [dependencyIds],
  )
}

/** Replaces all overrides of a dependency. The caller holds the channels. */
export async function replaceOverrides(tx: Tx, dependencyId: string, overrides: StoredOverride[]): Promise<void> {
  const kept = overrides.map(({ alertChannelId }) => alertChannelId)
  await execute(
    tx,
    'DELETE FROM dependency_overrides WHERE dependency_id = ? AND alert_channel_id <> ALL (?::uuid[])',
    [dependencyId, kept],
  )
  await execute(
    tx,
    `INSERT INTO dependency_overrides (dependency_id, alert_channel_id, on_down, on_degraded, on_resolved)
     SELECT "dependencyId", "alertChannelId", "onDown", "onDegraded", "onResolved"
     FROM jsonb_to_recordset(?::jsonb) AS row
       ("dependencyId" uuid, "alertChannelId" uuid, "onDown" boolean, "onDegraded" boolean, "onResolved" boolean)
     ON CONFLICT (dependency_id, alert_channel_id) DO UPDATE
       SET on_down = excluded.on_down, on_degraded = excluded.on_degraded, on_resolved = excluded.on_resolved`,
    [JSON.stringify(overrides)],
  )
}
