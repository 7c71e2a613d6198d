import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE users (
      id uuid PRIMARY KEY,
      email text NOT NULL UNIQUE CHECK (email = lower(email)),
      name text,
      password_hash text,
      claimed_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE TABLE organizations (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      plan text NOT NULL CHECK (plan IN ('free', 'pro', 'business')),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE TABLE memberships (
      organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (organization_id, user_id)
    );
    CREATE TABLE projects (
      id uuid PRIMARY KEY,
      organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
      name text NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE TABLE claim_links (
      token_hash bytea PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      created_at timestamptz NOT NULL
    );
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      created_by uuid REFERENCES users ON DELETE SET NULL,
      name text NOT NULL,
      scope text NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
      key_hash bytea NOT NULL UNIQUE,
      hint text NOT NULL,
      last_used_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX api_keys_by_project ON api_keys (project_id, id DESC);
    CREATE TABLE bootstrap_attempts (
      ip inet NOT NULL,
      created boolean NOT NULL,
      at timestamptz NOT NULL
    );
    CREATE INDEX bootstrap_attempts_by_ip ON bootstrap_attempts (ip, at);
    CREATE TABLE idempotency_keys (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      key text NOT NULL,
      request_hash bytea NOT NULL,
      status integer,
      answer bytea,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (project_id, key)
    );
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
  `)
}
