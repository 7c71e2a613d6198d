import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** Columns that only the worker writes. */
const FETCHING = [
  'next_fetch_at',
  'lease_owner',
  'lease_until',
  'last_fetched_at',
  'last_success_at',
  'last_error',
  'failures',
  'seen_hash',
  'incident_id',
]

/** JSON documents that are fetched, the rules for their fields, and the monitors created from them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE data_sources (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      url text NOT NULL,
      method text NOT NULL CHECK (method IN ('GET', 'POST')),
      headers bytea,
      body text,
      auth_type text CHECK (auth_type IN ('basic', 'bearer', 'api_key')),
      auth_config bytea,
      root_path text,
      fetch_interval_s integer NOT NULL CHECK (fetch_interval_s >= 30),
      timeout_ms integer NOT NULL,
      -- changes with the request or its evaluation: results of earlier fetches are void then
      revision bigint NOT NULL DEFAULT 1,
      next_fetch_at timestamptz NOT NULL,
      lease_owner text,
      lease_until timestamptz,
      last_fetched_at timestamptz,
      last_success_at timestamptz,
      -- a sentence; null after a success
      last_error text,
      -- in a row
      failures integer NOT NULL DEFAULT 0,
      -- hash of the last outcome: an equal outcome is not stored again
      seen_hash bytea,
      -- the incident of the source while it cannot be fetched
      incident_id uuid REFERENCES incidents ON DELETE SET NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX data_sources_by_project ON data_sources (project_id, id DESC);
    CREATE INDEX data_sources_due ON data_sources (next_fetch_at);
    CREATE INDEX data_sources_by_incident ON data_sources (incident_id) WHERE incident_id IS NOT NULL;

    CREATE TABLE data_source_fields (
      id uuid PRIMARY KEY,
      data_source_id uuid NOT NULL REFERENCES data_sources ON DELETE CASCADE,
      path text NOT NULL,
      name_template text NOT NULL,
      rule_type text NOT NULL,
      rule_config jsonb NOT NULL,
      degraded_rule_config jsonb,
      display_order double precision NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX data_source_fields_by_source ON data_source_fields (data_source_id, display_order, id);

    -- null: a monitor that probes check, or that pings
    ALTER TABLE monitors ADD COLUMN data_source_id uuid REFERENCES data_sources ON DELETE SET NULL;
    CREATE INDEX monitors_by_data_source ON monitors (data_source_id) WHERE data_source_id IS NOT NULL;

    CREATE TABLE data_source_children (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      data_source_id uuid NOT NULL REFERENCES data_sources ON DELETE CASCADE,
      -- null after the field was removed
      field_id uuid REFERENCES data_source_fields ON DELETE SET NULL,
      key text NOT NULL,
      -- the name from the template; a monitor with another name was renamed by people
      made_name text NOT NULL,
      -- the beginning of the value, as text; null: the key was missing at the last fetch
      value text,
      last_seen_at timestamptz,
      missing_since timestamptz,
      archived_at timestamptz,
      UNIQUE (field_id, key)
    );
    CREATE INDEX data_source_children_by_source ON data_source_children (data_source_id);
    CREATE INDEX data_source_children_missing ON data_source_children (missing_since)
      WHERE missing_since IS NOT NULL AND archived_at IS NULL;
  `)
  await addAuditTrigger(db, 'data_sources', { resource: 'data_source', ignored: FETCHING })
  await addAuditTrigger(db, 'data_source_fields', { resource: 'data_source_field', name: 'path' })
}
