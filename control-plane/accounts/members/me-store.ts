import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import type { PlanName } from '../plans/plans.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export const DENSITIES = ['compact', 'comfortable'] as const

/** How a person wants to see the dashboard. `time_zone` null: that of the browser. */
type UserPreferences = {
  theme: (typeof THEMES)[number]
  density: (typeof DENSITIES)[number]
  keyboard_shortcuts: boolean
  time_zone: string | null
}

/** Of a person who has chosen nothing. */
export const DEFAULT_PREFERENCES: UserPreferences = {
  ...{ theme: 'system', density: 'compact', keyboard_shortcuts: true, time_zone: null },
}

type MeRow = {
  organization: { id: string; name: string; plan: PlanName }
  project: { id: string; name: string }
  user: { id: string; email: string; name: string | null } | null
  /** null: nothing was chosen */
  preferences: UserPreferences | null
}

/** The project, its organization, and the user if `userId` is given. Null when the project was deleted. */
export async function findMe(db: Db, projectId: string, userId: string | null): Promise<MeRow | null> {
  const [row] = await query<MeRow>(
    db,
    `SELECT json_build_object('id', o.id, 'name', o.name, 'plan', o.plan) AS organization,
            json_build_object('id', p.id, 'name', p.name) AS project,
            CASE WHEN u.id IS NOT NULL THEN json_build_object('id', u.id, 'email', u.email, 'name', u.name) END AS "user",
            CASE WHEN f.user_id IS NOT NULL THEN json_build_object('theme', f.theme, 'density', f.density,
              'keyboard_shortcuts', f.keyboard_shortcuts, 'time_zone', f.time_zone) END AS preferences
     FROM projects p JOIN organizations o ON o.id = p.organization_id LEFT JOIN users u ON u.id = :userId
       LEFT JOIN user_preferences f ON f.user_id = u.id
     WHERE p.id = :projectId`,
    { projectId, userId },
  )
  return row ?? null
}

/** Changes the given preferences of a person and returns all of them. Null when the account was deleted. */
export async function savePreferences(
  db: Db,
  userId: string,
  changes: Partial<UserPreferences>,
  now: Date,
): Promise<UserPreferences | null> {
  return await db.transaction(async tx => {
    const sql = 'SELECT 1 FROM users WHERE id = ? FOR NO KEY UPDATE'
    if ((await query(tx, sql, [userId])).length === 0) return null
    const [stored] = await query<UserPreferences>(
      tx,
      'SELECT theme, density, keyboard_shortcuts, time_zone FROM user_preferences WHERE user_id = ?',
      [userId],
    )
    const next = { ...DEFAULT_PREFERENCES, ...stored, ...changes }
    await execute(
      tx,
      `INSERT INTO user_preferences (user_id, theme, density, keyboard_shortcuts, time_zone, updated_at)
       VALUES (:userId, :theme, :density, :keyboard_shortcuts, :time_zone, :now)
       ON CONFLICT (user_id) DO UPDATE SET theme = excluded.theme, density = excluded.density,
         keyboard_shortcuts = excluded.keyboard_shortcuts, time_zone = excluded.time_zone,
         updated_at = excluded.updated_at`,
      { userId, ...next, now },
    )
    return next
  })
}
