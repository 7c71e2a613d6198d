import type { Knex } from 'knex'

/** An enrolment token enrols one probe, once; after that the probe authenticates with its own secret. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- earlier tokens may enrol any number of probes
    ALTER TABLE probe_tokens ADD COLUMN is_reusable boolean NOT NULL DEFAULT true;
    ALTER TABLE probe_tokens ALTER COLUMN is_reusable DROP DEFAULT;
    -- a token for one probe expires then
    ALTER TABLE probe_tokens ADD COLUMN expires_at timestamptz;
    ALTER TABLE probes ADD COLUMN secret_hash bytea UNIQUE;
    ALTER TABLE probes ADD COLUMN revoked_at timestamptz;
  `)
}
