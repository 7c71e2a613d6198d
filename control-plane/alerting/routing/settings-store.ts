import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { DEFAULT_DIGEST_SETTINGS } from './digests/grouping.ts'
import type { SettingsUpdate } from './schemas.ts'

/** The alert settings of a project. `id` is the project's. */
export type SettingsRow = {
  id: string
  is_digest_enabled: boolean
  digest_threshold: number
  /** null also when the person is not a member any more */
  on_call_user_id: string | null
  created_at: Date
  updated_at: Date
}

/** The settings of the project, or the defaults with the project's creation time. */
export async function readSettings(db: Db, projectId: string): Promise<SettingsRow> {
  const [row] = await query<SettingsRow>(
    db,
    `SELECT p.id, coalesce(s.is_digest_enabled, :isDigestEnabled) AS is_digest_enabled,
       coalesce(s.digest_threshold, :digestThreshold) AS digest_threshold, m.user_id AS on_call_user_id,
       coalesce(s.created_at, p.created_at) AS created_at, coalesce(s.updated_at, p.created_at) AS updated_at
     FROM projects p LEFT JOIN alert_settings s ON s.project_id = p.id
     LEFT JOIN memberships m ON m.organization_id = p.organization_id AND m.user_id = s.on_call_user_id
     WHERE p.id = :projectId`,
    { projectId, ...DEFAULT_DIGEST_SETTINGS },
  )
  return row!
}

/** Changes the given settings. `on_call_user_id` null removes the person on call. */
export async function writeSettings(tx: Tx, projectId: string, update: SettingsUpdate, now: Date): Promise<void> {
  const { is_digest_enabled: isDigestEnabled = null, digest_threshold: digestThreshold = null } = update
  const onCallUserId = update.on_call_user_id ?? null
  await execute(
    tx,
    `INSERT INTO alert_settings (project_id, is_digest_enabled, digest_threshold, on_call_user_id, created_at, updated_at)
     VALUES (:projectId, coalesce(:isDigestEnabled::boolean, :defaultEnabled),
       coalesce(:digestThreshold::integer, :defaultThreshold), :onCallUserId, :now, :now)
     ON CONFLICT (project_id) DO UPDATE SET
       is_digest_enabled = coalesce(:isDigestEnabled::boolean, alert_settings.is_digest_enabled),
       digest_threshold = coalesce(:digestThreshold::integer, alert_settings.digest_threshold),
       on_call_user_id = CASE WHEN :isOnCallGiven THEN :onCallUserId ELSE alert_settings.on_call_user_id END,
       updated_at = excluded.updated_at`,
    {
      projectId,
      isDigestEnabled,
      digestThreshold,
      onCallUserId,
      isOnCallGiven: update.on_call_user_id !== undefined,
      defaultEnabled: DEFAULT_DIGEST_SETTINGS.isDigestEnabled,
      defaultThreshold: DEFAULT_DIGEST_SETTINGS.digestThreshold,
      now,
    },
  )
}

/** True when the user is a member of the project's organization. The membership cannot be deleted until the transaction ends. */
export async function holdMember(tx: Tx, projectId: string, userId: string): Promise<boolean> {
  const rows = await query(
    tx,
    `SELECT m.user_id FROM projects p JOIN memberships m ON m.organization_id = p.organization_id
     WHERE p.id = ? AND m.user_id = ? FOR KEY SHARE OF m`,
    [projectId, userId],
  )
  return rows.length === 1
}
