import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** Vendors on which projects depend: their public feeds, and the projects to notify. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- one row for each address, which is fetched once for all projects
    CREATE TABLE vendor_feeds (
      id uuid PRIMARY KEY,
      -- hash of type, address and mapping, which identify a feed
      key text NOT NULL UNIQUE,
      url text NOT NULL,
      type text NOT NULL CHECK (type IN ('statuspage', 'rss', 'atom', 'json')),
      mapping jsonb NOT NULL,
      -- the process that fetches it sets this into the future, so that it is due again if the process dies
      next_fetch_at timestamptz NOT NULL,
      -- number of claims: results of an older claim are not stored
      claims bigint NOT NULL DEFAULT 0,
      etag text,
      last_modified text,
      -- its last content and the hash of it; null: it was never read
      report jsonb,
      digest text,
      -- false: an incident disappeared from it and is not counted as closed yet
      is_settled boolean NOT NULL DEFAULT true,
      read_at timestamptz,
      failures integer NOT NULL DEFAULT 0,
      last_error text
    );
    CREATE INDEX vendor_feeds_due ON vendor_feeds (next_fetch_at);

    CREATE TABLE dependencies (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      feed_id uuid NOT NULL REFERENCES vendor_feeds,
      -- of the catalog entry; null: the project entered its own address
      slug text,
      name text NOT NULL,
      category text NOT NULL,
      status_url text NOT NULL,
      feed_url text NOT NULL,
      feed_type text NOT NULL,
      feed_mapping jsonb NOT NULL,
      -- empty: all components of the vendor
      components text[] NOT NULL,
      -- false: the next content existed before, and is not published
      is_baselined boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX dependencies_by_project ON dependencies (project_id, id);
    CREATE INDEX dependencies_by_feed ON dependencies (feed_id, id);

    -- the settings of one channel for one dependency, also if it is subscribed to all of them
    CREATE TABLE dependency_overrides (
      dependency_id uuid NOT NULL REFERENCES dependencies ON DELETE CASCADE,
      alert_channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      on_down boolean NOT NULL,
      on_degraded boolean NOT NULL,
      on_resolved boolean NOT NULL,
      PRIMARY KEY (dependency_id, alert_channel_id)
    );
    CREATE INDEX dependency_overrides_by_channel ON dependency_overrides (alert_channel_id);

    CREATE TABLE vendor_incidents (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      dependency_id uuid NOT NULL REFERENCES dependencies ON DELETE CASCADE,
      -- the id of the vendor; it may appear again
      source_id text NOT NULL,
      title text NOT NULL,
      severity text NOT NULL CHECK (severity IN ('none', 'minor', 'major', 'critical')),
      status text NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
      components text[] NOT NULL,
      source_url text NOT NULL,
      started_at timestamptz NOT NULL,
      resolved_at timestamptz,
      -- the worst impact so far: only a worse one is published
      worst text NOT NULL CHECK (worst IN ('none', 'degraded', 'down')),
      -- whether its beginning or its end was published; null: neither
      told text CHECK (told IN ('begin', 'end')),
      told_at timestamptz,
      -- consecutive reads of the feed without it
      missing integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX vendor_incidents_by_dependency ON vendor_incidents (dependency_id, id DESC);
    CREATE INDEX vendor_incidents_open ON vendor_incidents (dependency_id) WHERE resolved_at IS NULL;
    CREATE INDEX vendor_incidents_by_source ON vendor_incidents (dependency_id, source_id);
    CREATE INDEX vendor_incidents_by_project ON vendor_incidents (project_id, started_at);
  `)
  await addAuditTrigger(db, 'dependencies', { resource: 'dependency', ignored: ['feed_id', 'is_baselined'] })
  await addAuditTrigger(db, 'dependency_overrides', {
    resource: 'dependency',
    id: 'dependency_id',
    name: null,
    isPart: true,
  })
}
