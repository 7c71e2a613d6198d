import { type Db, query } from '../platform/postgres.ts'
import { DEFAULT_SETTINGS } from './grouping.ts'
import type { SettingsUpdate } from './schema.ts'

/** How a project is told of much at once. Its `id` is the project's. */
export type SettingsRow = {
  id: string
  is_digest_enabled: boolean
  digest_threshold: number
  created_at: Date
  updated_at: Date
}

/** What the project has set, or the defaults since it was made. */
export async function readSettings(db: Db, projectId: string): Promise<SettingsRow> {
  const [row] = await query<SettingsRow>(
    db,
    `SELECT p.id, coalesce(s.is_digest_enabled, :isDigestEnabled) AS is_digest_enabled,
       coalesce(s.digest_threshold, :digestThreshold) AS digest_threshold,
       coalesce(s.created_at, p.created_at) AS created_at, coalesce(s.updated_at, p.created_at) AS updated_at
     FROM projects p LEFT JOIN alert_settings s ON s.project_id = p.id WHERE p.id = :projectId`,
    { projectId, ...DEFAULT_SETTINGS },
  )
  return row!
}

/** Sets what the update names. */
export async function writeSettings(
  db: Db,
  projectId: string,
  { is_digest_enabled: isDigestEnabled = null, digest_threshold: digestThreshold = null }: Nullable<SettingsUpdate>,
  now: Date,
): Promise<SettingsRow> {
  const [row] = await query<SettingsRow>(
    db,
    `INSERT INTO alert_settings (project_id, is_digest_enabled, digest_threshold, created_at, updated_at)
     VALUES (:projectId, coalesce(:isDigestEnabled::boolean, :defaultEnabled),
       coalesce(:digestThreshold::integer, :defaultThreshold), :now, :now)
     ON CONFLICT (project_id) DO UPDATE SET
       is_digest_enabled = coalesce(:isDigestEnabled::boolean, alert_settings.is_digest_enabled),
       digest_threshold = coalesce(:digestThreshold::integer, alert_settings.digest_threshold),
       updated_at = excluded.updated_at
     RETURNING project_id AS id, is_digest_enabled, digest_threshold, created_at, updated_at`,
    {
      projectId,
      isDigestEnabled,
      digestThreshold,
      defaultEnabled: DEFAULT_SETTINGS.isDigestEnabled,
      defaultThreshold: DEFAULT_SETTINGS.digestThreshold,
      now,
    },
  )
  return row!
}

type Nullable<T> = { [K in keyof T]: T[K] | null }
