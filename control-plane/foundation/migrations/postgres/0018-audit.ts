import type { Knex } from 'knex'
import { type AuditTriggerOptions, addAuditTrigger } from './audit-trigger.ts'

/** Columns that users do not set: the verdict of a monitor, and values derived from its fields. */
const OF_MONITORS = [
  'partition',
  'config_version',
  'status',
  'status_changed_at',
  'ssl_expires_at',
  'domain_expires_at',
]
const TABLES: Record<string, AuditTriggerOptions> = {
  organizations: { resource: 'organization' },
  projects: { resource: 'project' },
  memberships: { resource: 'member', id: 'user_id', name: 'user_id' },
  api_keys: { resource: 'api_key' },
  monitors: { resource: 'monitor', ignored: OF_MONITORS },
  monitor_parents: { resource: 'monitor', id: 'monitor_id', isPart: true },
  screenshot_baselines: { resource: 'monitor', id: 'monitor_id', isPart: true },
  alert_channels: { resource: 'alert_channel', ignored: ['consecutive_failures'] },
  alert_rules: { resource: 'alert_rule', name: null },
  alert_subscriptions: { resource: 'alert_subscription', name: null },
  alert_settings: { resource: 'alert_settings', id: 'project_id', name: null },
  incidents: { resource: 'incident', name: 'title' },
  incident_monitors: { resource: 'incident', id: 'incident_id', name: 'title', isPart: true },
  incident_updates: { resource: 'incident_update', name: null, ignored: ['is_initial'] },
  maintenance_windows: { resource: 'maintenance_window', name: 'title', ignored: ['planned_at'] },
  maintenance_window_monitors: { resource: 'maintenance_window', id: 'window_id', name: 'title', isPart: true },
  status_pages: { resource: 'status_page' },
  status_page_groups: { resource: 'status_page_group' },
  status_page_components: { resource: 'status_page_component' },
  status_page_images: { resource: 'status_page', id: 'page_id', isPart: true },
  page_subscribers: { resource: 'subscriber', name: null, ignored: ['consecutive_failures', 'asked_at'] },
  probe_tokens: { resource: 'probe_token', name: 'region' },
  probes: { resource: 'probe', ignored: ['connected_to', 'connected_at', 'last_seen_at', 'health'] },
}

/**
 * The audit log. A trigger on each table writes it, and only in a transaction that names an actor, so that no route can
 * forget it and verdicts have no cost. Rows are never changed, and are deleted after a year (accounts/audit/store.ts).
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- its monitors are kept as deleted ones; everything else was deleted
    ALTER TABLE organizations ADD COLUMN deleted_at timestamptz;

    -- no foreign keys: a row outlives its actor and its resource
    CREATE TABLE audit_log (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      seq bigint GENERATED ALWAYS AS IDENTITY,
      -- null: of the whole organization; both null: of the installation
      project_id uuid,
      organization_id uuid,
      at timestamptz NOT NULL DEFAULT now(),
      actor_kind text NOT NULL CHECK (actor_kind IN ('api_key', 'user', 'operator', 'system')),
      actor_id uuid,
      actor_name text NOT NULL,
      ip inet,
      action text NOT NULL,
      resource text NOT NULL,
      resource_id text,
      resource_name text,
      -- { "name": { "from": "Shop", "to": "Store" } }
      changes jsonb NOT NULL
    );
    CREATE INDEX audit_log_by_organization ON audit_log (organization_id, seq DESC);
    CREATE INDEX audit_log_by_resource ON audit_log (resource_id, seq DESC);
    CREATE INDEX audit_log_by_age ON audit_log (at);
  `)
  await makeAppendOnly(db)
  await createWriter(db)
  for (const [table, how] of Object.entries(TABLES)) await addAuditTrigger(db, table, how)
}

const makeAppendOnly = (db: Knex) =>
  db.raw(`
    CREATE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND OLD.at < now() - interval '365 days' THEN RETURN OLD; END IF;
      RAISE EXCEPTION 'the audit log is kept as it was written for 365 days';
    END $$;
    CREATE TRIGGER audit_log_kept BEFORE UPDATE OR DELETE ON audit_log
      FOR EACH ROW EXECUTE FUNCTION keep_audit_log();
    CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_log();
  `)

const createWriter = (db: Knex) =>
  db.raw(`
    -- a value as the log shows it: long ones by their beginning
    CREATE FUNCTION audit_value(value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE
        WHEN length(value::text) <= 1000 THEN value
        ELSE to_jsonb(left(value #>> '{}', 999) || '…')
      END
    $$;

    -- what differs between two rows, null where one is missing; of a secret only that it differs
    CREATE FUNCTION audit_changes(earlier jsonb, later jsonb, hidden text[], ignored text[]) RETURNS jsonb
    LANGUAGE sql IMMUTABLE AS $$
      SELECT coalesce(jsonb_object_agg(field, jsonb_build_object(
        'from', CASE WHEN field = ANY (hidden) AND was <> 'null' THEN '"********"' ELSE audit_value(was) END,
        'to', CASE WHEN field = ANY (hidden) AND is_now <> 'null' THEN '"********"' ELSE audit_value(is_now) END
      )), '{}')
      FROM (
        SELECT field, coalesce(earlier -> field, 'null') AS was, coalesce(later -> field, 'null') AS is_now
        FROM jsonb_object_keys((earlier || later) - ignored) AS field
      ) fields
      WHERE was <> is_now
    $$;

    -- arguments: resource, id column, name column, the table of which a row is a part, hidden columns, ignored columns
    CREATE FUNCTION write_audit_log() RETURNS trigger LANGUAGE plpgsql SET timezone TO 'UTC' AS $$
    DECLARE
      actor jsonb := current_setting('picket.actor')::jsonb;
      earlier jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) ELSE '{}' END;
      later jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) ELSE '{}' END;
      whole jsonb := earlier || later;
      -- a record that is only marked as deleted is deleted for whoever reads this
      is_gone boolean := TG_OP = 'DELETE' OR (earlier ->> 'deleted_at' IS NULL AND later ->> 'deleted_at' IS NOT NULL);
      is_part boolean := TG_ARGV[3] <> '';
      known_by jsonb := whole;
      project uuid;
      changes jsonb;
    BEGIN
      IF is_part THEN
        EXECUTE format('SELECT to_jsonb(o) FROM %I o WHERE id = $1', TG_ARGV[3])
          INTO known_by USING (whole ->> TG_ARGV[1])::uuid;
        -- what goes with its record is told with that
        IF known_by IS NULL THEN RETURN NULL; END IF;
      END IF;
      project := coalesce(known_by ->> 'project_id', actor ->> 'projectId');
      -- a tenant's claim may touch another's records, a domain's: the other is told what, and not by whom
      IF project::text <> actor ->> 'projectId' THEN
        actor := jsonb_build_object('kind', 'system', 'name', 'Picket');
      END IF;
      IF is_gone THEN later := '{}'; END IF;
      changes := audit_changes(earlier, later, TG_ARGV[4]::text[] || ARRAY(
          SELECT attname::text FROM pg_attribute WHERE attrelid = TG_RELID AND attnum > 0
            AND (atttypid = 'bytea'::regtype OR attname ~ '(hash|secret|token|password)$')
        ), TG_ARGV[5]::text[] || ARRAY[TG_ARGV[1], 'id', 'project_id', 'organization_id', 'created_at', 'updated_at',
          'deleted_at', 'last_used_at', 'revision']);
      IF TG_OP = 'UPDATE' AND NOT is_gone AND changes = '{}' THEN RETURN NULL; END IF;
      INSERT INTO audit_log (project_id, organization_id, actor_kind, actor_id, actor_name, ip,
        action, resource, resource_id, resource_name, changes)
      VALUES (
        project,
        coalesce(
          CASE WHEN TG_TABLE_NAME = 'organizations' THEN whole ->> 'id' ELSE whole ->> 'organization_id' END,
          actor ->> 'organizationId',
          (SELECT organization_id::text FROM projects WHERE id = project)
        )::uuid,
        actor ->> 'kind', (actor ->> 'id')::uuid, actor ->> 'name', (actor ->> 'ip')::inet,
        CASE
          WHEN is_part OR TG_OP = 'UPDATE' AND NOT is_gone THEN 'updated'
          WHEN is_gone THEN 'deleted'
          ELSE 'created'
        END,
        TG_ARGV[0], whole ->> TG_ARGV[1],
        CASE TG_ARGV[2]
          WHEN '' THEN NULL
          WHEN 'user_id' THEN (SELECT email FROM users WHERE id = (whole ->> 'user_id')::uuid)
          ELSE known_by ->> TG_ARGV[2]
        END,
        changes
      );
      RETURN NULL;
    END $$;
  `)
