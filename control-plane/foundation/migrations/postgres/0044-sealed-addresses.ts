import type { Knex } from 'knex'

/**
 * Where a delivery went is sealed: the address of a webhook may hold a secret. Rows with `request_url` in plain text are
 * sealed by a worker, in portions (deliveries/seal-worker.ts), because only processes have the key. There is no
 * index for that: it would keep deliveries locked while it is built. A process of the version before reads no address of newer deliveries, and needs none.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE deliveries ADD COLUMN request_address bytea')
}
