import type { Knex } from 'knex'

/** Subscribers are sent a new time of maintenance that they know (docs/design/maintenance-notices.md#changes). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE maintenance_notices
      DROP CONSTRAINT maintenance_notices_stage_check,
      ADD CONSTRAINT maintenance_notices_stage_check CHECK (stage IN ('announced', 'changed', 'begun', 'ended')),
      -- the beginning with which the period was first sent; null: starts_at
      ADD COLUMN first_starts_at timestamptz,
      -- of the stage "changed", the newest change: the time before it
      ADD COLUMN previous_starts_at timestamptz,
      ADD COLUMN previous_ends_at timestamptz;

    -- the time that subscribers know, and since when the open period has another one; null: they know its time
    ALTER TABLE maintenance_notice_plans
      ADD COLUMN known_starts_at timestamptz,
      ADD COLUMN known_ends_at timestamptz,
      ADD COLUMN changed_at timestamptz;
  `)
}
