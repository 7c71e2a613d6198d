import type { Knex } from 'knex'

/**
 * Changes of the verdict whose monitors were locked when their partition went on; see results/deferred-store. No foreign
 * key: its check would wait for the same lock. `json` keeps the order of an explanation's fields, which people read.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE deferred_changes (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      partition smallint NOT NULL,
      monitor_id uuid NOT NULL,
      change json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX deferred_changes_by_monitor ON deferred_changes (partition, monitor_id);
  `)
}
