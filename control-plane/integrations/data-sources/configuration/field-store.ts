import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { ChildMonitor, StoredField } from '../types.ts'

const COLUMNS = `
  id, data_source_id AS "dataSourceId", path, name_template AS "nameTemplate", rule_type AS "ruleType",
  rule_config AS "ruleConfig", degraded_rule_config AS "degradedRuleConfig", display_order AS "displayOrder",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** Returns the fields of sources. The fields of one source are in their order. */
export function listFields(db: Db, sourceIds: string[]): Promise<StoredField[]> {
  return query(
    db,
    `SELECT ${COLUMNS} FROM data_source_fields WHERE data_source_id = ANY (?::uuid[])
     ORDER BY data_source_id, display_order, id`,
    [sourceIds],
  )
}

/** Inserts or updates fields of a source that the caller has locked. */
export async function saveFields(tx: Tx, fields: StoredField[]): Promise<void> {
  if (fields.length === 0) return
  await execute(
    tx,
    `INSERT INTO data_source_fields (id, data_source_id, path, name_template, rule_type, rule_config,
       degraded_rule_config, display_order, created_at, updated_at)
     SELECT id, "dataSourceId", path, "nameTemplate", "ruleType", "ruleConfig",
       CASE WHEN jsonb_typeof("degradedRuleConfig") = 'object' THEN "degradedRuleConfig" END,
       "displayOrder", "createdAt", "updatedAt"
     FROM jsonb_to_recordset(CAST(? AS jsonb)) AS row (id uuid, "dataSourceId" uuid, path text, "nameTemplate" text,
       "ruleType" text, "ruleConfig" jsonb, "degradedRuleConfig" jsonb, "displayOrder" float8,
       "createdAt" timestamptz, "updatedAt" timestamptz)
     ON CONFLICT (id) DO UPDATE SET path = excluded.path, name_template = excluded.name_template,
       rule_type = excluded.rule_type, rule_config = excluded.rule_config,
       degraded_rule_config = excluded.degraded_rule_config, display_order = excluded.display_order,
       updated_at = excluded.updated_at`,
    [JSON.stringify(fields)],
  )
}

/** Deletes fields. Their children keep a null `field_id`. */
export async function removeFields(tx: Tx, ids: string[]): Promise<void> {
  await execute(tx, 'DELETE FROM data_source_fields WHERE id = ANY (?::uuid[])', [ids])
}

/** Returns the children of sources that are not archived, oldest first. */
export function listChildMonitors(db: Db, sourceIds: string[]): Promise<ChildMonitor[]> {
  return query(
    db,
    `SELECT c.data_source_id AS "dataSourceId", c.field_id AS "fieldId", m.id AS "monitorId", c.key, m.name, m.status
     FROM data_source_children c JOIN monitors m ON m.id = c.monitor_id AND m.deleted_at IS NULL
     WHERE c.data_source_id = ANY (?::uuid[]) AND c.field_id IS NOT NULL ORDER BY m.id`,
    [sourceIds],
  )
}

/** Marks children as archived. */
export async function markArchived(tx: Tx, monitorIds: string[], now: Date): Promise<void> {
  await execute(
    tx,
    'UPDATE data_source_children SET archived_at = :now WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[]))',
    {
      monitorIds,
      now,
    },
  )
}
