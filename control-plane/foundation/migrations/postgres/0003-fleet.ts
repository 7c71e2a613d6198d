import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE probe_tokens (
      id uuid PRIMARY KEY,
      region text NOT NULL,
      token_hash bytea NOT NULL UNIQUE,
      created_at timestamptz NOT NULL,
      last_used_at timestamptz,
      revoked_at timestamptz
    );
    CREATE TABLE probes (
      id uuid PRIMARY KEY,
      token_id uuid NOT NULL REFERENCES probe_tokens,
      region text NOT NULL,
      name text NOT NULL,
      instance_id text NOT NULL,
      version text NOT NULL,
      capabilities text[] NOT NULL,
      connected_to text,
      connected_at timestamptz,
      last_seen_at timestamptz NOT NULL,
      is_draining boolean NOT NULL DEFAULT false,
      health jsonb,
      created_at timestamptz NOT NULL,
      UNIQUE (token_id, name)
    );
    CREATE INDEX probes_by_region ON probes (region);
    CREATE TABLE region_epochs (
      region text PRIMARY KEY,
      epoch integer NOT NULL,
      probe_ids uuid[] NOT NULL,
      updated_at timestamptz NOT NULL
    );
  `)
}
