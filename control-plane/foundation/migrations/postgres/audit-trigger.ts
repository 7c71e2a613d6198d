import type { Knex } from 'knex'

/** How the changes of a table are told in the audit log. Columns of the type bytea, hashes, secrets and tokens are never shown. */
export type AuditTriggerOptions = {
  /** the API's noun: `status_page_component` */
  resource: string
  /** the column of the resource's id */
  id?: string
  /** the column that people know the resource by; `user_id` tells that user's e-mail; null: it has no name */
  name?: string | null
  /** its rows are part of the resource, to which `id` refers: one more or less is an update of that */
  isPart?: boolean
  /** columns of which only is told that they changed */
  hidden?: string[]
  /** columns that nobody set: a change of these alone is not told */
  ignored?: string[]
}

/** Every change of a table's rows by an actor (web/acting.ts) is written to the audit log, in the same transaction. */
export async function addAuditTrigger(db: Knex, table: string, how: AuditTriggerOptions): Promise<void> {
  const { resource, id = 'id', name = 'name', isPart = false, hidden = [], ignored = [] } = how
  const owner = isPart ? await findOwnerTable(db, table, id) : ''
  const told = [resource, id, name ?? '', owner, `{${hidden}}`, `{${ignored}}`]
  await db.raw(
    `CREATE TRIGGER ?? AFTER INSERT OR UPDATE OR DELETE ON ??
     FOR EACH ROW WHEN (current_setting('picket.actor', true) <> '')
     EXECUTE FUNCTION write_audit_log(${told.map(argument => `'${argument}'`)})`,
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
