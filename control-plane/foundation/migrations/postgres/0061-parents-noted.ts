import type { Knex } from 'knex'

/** The board of monitors has the parents of each monitor, so their changes are in the log of changes (docs/design/live.md). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TRIGGER monitor_parents_noted_on_insert AFTER INSERT ON monitor_parents
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_state_changes();
    CREATE TRIGGER monitor_parents_noted_on_delete AFTER DELETE ON monitor_parents
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_state_changes();
  `)
}
