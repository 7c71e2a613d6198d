import type { Knex } from 'knex'

/**
 * Suspended access: from the moment at which the owner of an address confirms it by a mailed link, until they keep or end
 * the access that existed before.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE api_keys ADD COLUMN suspended_at timestamptz;
    ALTER TABLE memberships ADD COLUMN suspended_at timestamptz;
    -- organizations to which a session has no access, although its user is a member
    ALTER TABLE sessions ADD COLUMN suspended_in uuid[] NOT NULL DEFAULT '{}';
    -- created at the command line; earlier links count as mailed, so that more access is reviewed and not less
    ALTER TABLE claim_links ADD COLUMN from_operator boolean NOT NULL DEFAULT false;
  `)
}
