import type { Knex } from 'knex'

/**
 * The address of a delivery is encrypted, because the URL of a webhook may contain a secret. A worker encrypts rows with a
 * plain `request_url` in batches (deliveries/rendering/address-encryption-worker.ts), because only processes have the key.
 * There is no index for that: building it would lock deliveries. A process of the previous version does not need the address.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE deliveries ADD COLUMN request_address bytea')
}
