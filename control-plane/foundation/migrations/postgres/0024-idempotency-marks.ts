import type { Knex } from 'knex'

/**
 * Each transaction of a request with an Idempotency-Key writes a row, so that the request is not carried out again when its
 * answer was lost. No unique index, so that transactions of one request do not wait for each other. No foreign key, because
 * rows are deleted after a day, and the key would lock the project first.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE idempotency_marks (
      project_id uuid NOT NULL,
      key text NOT NULL,
      claimed_at timestamptz NOT NULL
    );
    CREATE INDEX idempotency_marks_by_key ON idempotency_marks (project_id, key);
    CREATE INDEX idempotency_marks_by_age ON idempotency_marks (claimed_at);
  `)
}
