import type { Knex } from 'knex'

/** Canaries fail in several ways in turn. Existing ones keep failing with status 503 until they are created again. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE canaries ADD COLUMN kinds text[] NOT NULL DEFAULT '{status}';
    ALTER TABLE canary_outages ADD COLUMN kind text NOT NULL DEFAULT 'status';
  `)
}
