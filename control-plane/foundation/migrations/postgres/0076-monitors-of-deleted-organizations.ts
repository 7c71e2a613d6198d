import type { Knex } from 'knex'

/** Organizations in which a data source created monitors while they were deleted are emptied again (accounts/organizations/deletion). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    UPDATE organizations o SET emptied_at = NULL
    WHERE o.emptied_at IS NOT NULL AND EXISTS (
      SELECT FROM monitors m JOIN projects p ON p.id = m.project_id WHERE p.organization_id = o.id AND m.name <> '')
  `)
}
