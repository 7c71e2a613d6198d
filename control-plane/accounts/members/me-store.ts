import { type Db, query } from '../../foundation/platform/postgres/client.ts'
import type { PlanName } from '../plans/plans.ts'

type MeRow = {
  organization: { id: string; name: string; plan: PlanName }
  project: { id: string; name: string }
  user: { id: string; email: string; name: string | null } | null
}

/** The project, its organization, and the user if `userId` is given. Null when the project was deleted. */
export async function findMe(db: Db, projectId: string, userId: string | null): Promise<MeRow | null> {
  const [row] = await query<MeRow>(
    db,
    `SELECT json_build_object('id', o.id, 'name', o.name, 'plan', o.plan) AS organization,
            json_build_object('id', p.id, 'name', p.name) AS project,
            CASE WHEN u.id IS NOT NULL THEN json_build_object('id', u.id, 'email', u.email, 'name', u.name) END AS "user"
     FROM projects p JOIN organizations o ON o.id = p.organization_id LEFT JOIN users u ON u.id = :userId
     WHERE p.id = :projectId`,
    { projectId, userId },
  )
  return row ?? null
}
