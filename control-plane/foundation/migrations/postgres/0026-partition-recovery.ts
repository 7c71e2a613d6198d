import type { Knex } from 'knex'

/**
 * State with which the reader of a partition continues where the previous one ended. `deferred_changes`: changes of the
 * verdict whose monitors were locked when the partition continued. There is no foreign key, because its check would wait for
 * the same lock. `json` keeps the order of an explanation's fields. `partition_checkpoints`: state that exists only in memory.
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

    CREATE TABLE partition_checkpoints (
      partition smallint PRIMARY KEY,
      stream_created text NOT NULL,
      position bigint NOT NULL,
      position_taken_at timestamptz NOT NULL,
      data bytea NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    -- written every few seconds, and hardly compressible
    ALTER TABLE partition_checkpoints ALTER COLUMN data SET STORAGE EXTERNAL;
  `)
}
