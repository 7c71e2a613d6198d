import type { Knex } from 'knex'

/**
 * Expiry of certificates and domain registrations. Triggers create and drop a watch whenever a monitor changes, so that no
 * writer can leave a watch for another host.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE certificates_seen (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      region text NOT NULL,
      fingerprint text NOT NULL,
      expires_at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL,
      PRIMARY KEY (monitor_id, region)
    );

    -- one row for each registrable domain, shared by all monitors below it, of all tenants
    CREATE TABLE domains (
      name text PRIMARY KEY,
      identity text,
      expires_at timestamptz,
      source text CHECK (source IN ('rdap', 'whois')),
      failures integer NOT NULL DEFAULT 0,
      last_error text,
      looked_at timestamptz,
      next_look_at timestamptz NOT NULL
    );
    CREATE INDEX domains_due ON domains (next_look_at);

    CREATE TABLE expiry_watches (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('tls', 'domain')),
      domain text,
      identity text,
      expires_at timestamptz,
      -- null: nothing is due until something changes
      next_look_at timestamptz,
      PRIMARY KEY (monitor_id, kind)
    );
    CREATE INDEX expiry_watches_due ON expiry_watches (next_look_at) WHERE next_look_at IS NOT NULL;
    CREATE INDEX expiry_watches_by_domain ON expiry_watches (domain) WHERE domain IS NOT NULL;

    -- outlives the watch: a certificate that returns causes no second warning
    CREATE TABLE expiry_warnings (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      kind text NOT NULL,
      identity text NOT NULL,
      warned_days smallint NOT NULL,
      warned_at timestamptz NOT NULL,
      PRIMARY KEY (monitor_id, kind, identity)
    );

    CREATE TABLE rdap_bootstrap (
      id boolean PRIMARY KEY DEFAULT true CHECK (id),
      document jsonb,
      fetched_at timestamptz,
      next_fetch_at timestamptz NOT NULL
    );
    INSERT INTO rdap_bootstrap (next_fetch_at) VALUES (now() + interval '10 minutes');

    CREATE FUNCTION watch_domain() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM expiry_watches WHERE monitor_id = NEW.id AND kind = 'domain';
      IF NEW.domain_check AND NEW.deleted_at IS NULL THEN
        INSERT INTO expiry_watches (monitor_id, kind, next_look_at) VALUES (NEW.id, 'domain', NEW.updated_at);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER monitors_domain_added AFTER INSERT ON monitors
      FOR EACH ROW WHEN (NEW.domain_check) EXECUTE FUNCTION watch_domain();
    CREATE TRIGGER monitors_domain_changed AFTER UPDATE ON monitors
      FOR EACH ROW WHEN (
        OLD.domain_check IS DISTINCT FROM NEW.domain_check
        OR NEW.domain_check AND (OLD.url IS DISTINCT FROM NEW.url OR OLD.type IS DISTINCT FROM NEW.type
          OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at))
      EXECUTE FUNCTION watch_domain();

    CREATE FUNCTION forget_certificates() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM certificates_seen WHERE monitor_id = NEW.id;
      DELETE FROM expiry_watches WHERE monitor_id = NEW.id AND kind = 'tls';
      RETURN NULL;
    END $$;
    CREATE TRIGGER monitors_certificate_forgotten AFTER UPDATE ON monitors
      FOR EACH ROW WHEN (OLD.ssl_expires_at IS NOT NULL AND (NEW.ssl_expires_at IS NULL OR NEW.deleted_at IS NOT NULL))
      EXECUTE FUNCTION forget_certificates();

    INSERT INTO expiry_watches (monitor_id, kind, next_look_at)
    SELECT id, 'domain', now() FROM monitors WHERE domain_check AND deleted_at IS NULL;
  `)
}
