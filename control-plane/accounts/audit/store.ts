import { type Db, execute } from '../../platform/postgres.ts'
import type { Acting } from '../../web/acting.ts'

/** What is done to a record; and acts that change none, of which a new one needs a word here. */
export const ACTIONS = [
  ...['created', 'updated', 'deleted'],
  ...['signed_in', 'signed_out', 'password_changed', 'replayed', 'exported', 'rotated'],
] as const
export type Act = {
  action: (typeof ACTIONS)[number]
  /** the API's noun, as in the table of migration 0018 */
  resource: string
  resourceId: string | null
  resourceName: string | null
  changes?: Record<string, { from: unknown; to: unknown }>
}

export async function insertAct(db: Db, acting: Acting, { changes = {}, ...act }: Act): Promise<void> {
  await execute(
    db,
    `INSERT INTO audit_log (project_id, organization_id, actor_kind, actor_id, actor_name, ip, action, resource,
       resource_id, resource_name, changes)
     VALUES (:projectId, :organizationId, :kind, :id, :name, :ip, :action, :resource, :resourceId, :resourceName, :changes)`,
    { ...acting, ...act, changes: JSON.stringify(changes) },
  )
}
