import { type Db, execute, query, type Tx } from '../../../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../../../foundation/web/conditions/record-version.ts'
import type { IncidentStatus, Severity } from '../../lifecycle.ts'

/** A text for recurring updates, with the values that it proposes. Null: it proposes none. */
export type StoredTemplate = {
  id: string
  projectId: string
  name: string
  title: string | null
  severity: Severity | null
  status: IncidentStatus | null
  message: string
  createdAt: Date
  updatedAt: Date
}

const COLUMNS = `id, project_id AS "projectId", name, title, severity, status, message, created_at AS "createdAt",
  updated_at AS "updatedAt"`

export const TEMPLATE_VERSION: RecordVersion = { noun: 'incident template', table: 'incident_templates' }

/** One page of a project's templates, by name, and their total number. */
export async function listTemplates(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ templates: StoredTemplate[]; total: number }> {
  const templates = await query<StoredTemplate>(
    db,
    `SELECT ${COLUMNS} FROM incident_templates WHERE project_id = :projectId
     ORDER BY lower(name), id LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  return { templates, total: await countTemplates(db, projectId) }
}

/** Null if the project does not have it. `id` has to be a valid id. */
export async function findTemplate(db: Db, projectId: string, id: string): Promise<StoredTemplate | null> {
  const sql = `SELECT ${COLUMNS} FROM incident_templates WHERE project_id = :projectId AND id = :id`
  return (await query<StoredTemplate>(db, sql, { projectId, id }))[0] ?? null
}

/** The same, locked until the transaction ends. */
export async function lockTemplate(tx: Tx, projectId: string, id: string): Promise<StoredTemplate | null> {
  const sql = `SELECT ${COLUMNS} FROM incident_templates WHERE project_id = :projectId AND id = :id FOR UPDATE`
  return (await query<StoredTemplate>(tx, sql, { projectId, id }))[0] ?? null
}

/** Counts the templates of a project. Other transactions that add templates wait until this one ends. */
export async function lockTemplateCount(tx: Tx, projectId: string): Promise<number> {
  await execute(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
  return countTemplates(tx, projectId)
}

async function countTemplates(db: Db, projectId: string): Promise<number> {
  const sql = 'SELECT count(*) AS total FROM incident_templates WHERE project_id = ?'
  return (await query<{ total: number }>(db, sql, [projectId]))[0]?.total ?? 0
}

/** Inserts or updates a template. Throws a unique violation when the project has another one with this name. */
export async function saveTemplate(tx: Tx, template: StoredTemplate): Promise<void> {
  await execute(
    tx,
    `INSERT INTO incident_templates (id, project_id, name, title, severity, status, message, created_at, updated_at)
     VALUES (:id, :projectId, :name, :title, :severity, :status, :message, :createdAt, :updatedAt)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, title = excluded.title, severity = excluded.severity,
       status = excluded.status, message = excluded.message, updated_at = excluded.updated_at`,
    template,
  )
}

/** Returns false if the project does not have it. */
export async function removeTemplate(db: Db, projectId: string, id: string): Promise<boolean> {
  return (await execute(db, 'DELETE FROM incident_templates WHERE project_id = ? AND id = ?', [projectId, id])) === 1
}
