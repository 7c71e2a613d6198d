import type { Knex } from 'knex'

/** How the audit log describes changes of a table. Columns of type bytea, hashes, secrets and tokens are never shown. */
export type AuditTriggerOptions = {
  /** the API's noun: `status_page_component` */
  resource: string
  /** the column of the resource's id */
  id?: string
  /** the column with the resource's name; `user_id` shows the email address of that user; null: it has no name */
  name?: string | null
  /** its rows are part of the resource to which `id` refers: an insert or delete is an update of that resource */
  isPart?: boolean
  /** columns that are listed as changed without their values */
  hidden?: string[]
  /** columns that users do not set: a change of only these is not recorded */
  ignored?: string[]
}

/** Adds a trigger that writes every change by an actor (web/auth/audit-actor.ts) to the audit log, in the same transaction. */
export async function addAuditTrigger(db: Knex, table: string, how: AuditTriggerOptions): Promise<void> {
  const { resource, id = 'id', name = 'name', isPart = false, hidden = [], ignored = [] } = how
  const owner = isPart ? await findOwnerTable(db, table, id) : ''
  const triggerArguments = [resource, id, name ?? '', owner, `{${hidden}}`, `{${ignored}}`]
  await db.raw(
    `CREATE TRIGGER ?? AFTER INSERT OR UPDATE OR DELETE ON ??
     FOR EACH ROW WHEN (current_setting('picket.actor', true) <> '')
     EXECUTE FUNCTION write_audit_log(${triggerArguments.map(argument => `'${argument}'`)})`,
    [`${table}_audited`, table],
  )
}

/** The table that a column refers to. */
async function findOwnerTable(db: Knex, table: string, column: string): Promise<string> {
  const { rows } = await db.raw<{ rows: { owner: string }[] }>(
    `SELECT c.confrelid::regclass::text AS owner
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     WHERE c.contype = 'f' AND c.conrelid = ?::regclass AND a.attname = ?`,
    [table, column],
  )
  return rows[0]!.owner
}
