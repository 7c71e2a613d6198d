import type { Knex } from 'knex'

/** Each planned failure is compared with its guarantee. Earlier failures are not compared. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE canary_outages
      -- none: no guarantee applied; null: measured before guarantees were compared
      ADD COLUMN guarantee text CHECK (guarantee IN ('kept', 'missed', 'none')),
      -- seconds from the beginning of the failure, as guaranteed then
      ADD COLUMN down_within float8,
      ADD COLUMN message_within float8,
      -- seconds beyond the guarantee, for a miss; null: the failure was not noticed, or no alert arrived
      ADD COLUMN late_seconds float8;
  `)
}
