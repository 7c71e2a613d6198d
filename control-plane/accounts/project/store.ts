import { type Db, query } from '../../platform/postgres.ts'
import type { Plan } from '../plans.ts'

export type ProjectRow = { id: string; name: string; plan: Plan; created_at: Date; updated_at: Date }

export async function findProject(db: Db, projectId: string): Promise<ProjectRow | null> {
  const [row] = await query<ProjectRow>(
    db,
    `SELECT projects.id, projects.name, organizations.plan, projects.created_at, projects.updated_at
     FROM projects JOIN organizations ON organizations.id = projects.organization_id WHERE projects.id = ?`,
    [projectId],
  )
  return row ?? null
}
