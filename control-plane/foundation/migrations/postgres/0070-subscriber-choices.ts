import type { Knex } from 'knex'

/**
 * A component that is deleted leaves the choices of subscribers (docs/design/subscribers.md#notices). Components that were
 * deleted before did not: a subscriber with no other component got no notice any more.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    UPDATE page_subscribers s SET component_ids = (
      SELECT array_agg(c.id ORDER BY c.id) FROM status_page_components c
      WHERE c.page_id = s.page_id AND c.id = ANY (s.component_ids))
    WHERE EXISTS (
      SELECT FROM unnest(s.component_ids) AS chosen (id)
      WHERE NOT EXISTS (SELECT FROM status_page_components c WHERE c.page_id = s.page_id AND c.id = chosen.id))
  `)
}
