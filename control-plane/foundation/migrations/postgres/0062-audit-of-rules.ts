import type { Knex } from 'knex'

/** Finds the alert rules that a monitor had, also those that were deleted (accounts/audit/store.ts). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE INDEX audit_log_of_rules ON audit_log
      ((coalesce(changes #>> '{monitor_id,to}', changes #>> '{monitor_id,from}')))
      WHERE resource = 'alert_rule' AND action <> 'updated';
  `)
}
