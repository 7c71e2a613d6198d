import type { Knex } from 'knex'

/**
 * A row for each transaction of a request with an Idempotency-Key, written in it: what was carried out is not carried
 * out again when its answer is lost. No unique index: transactions of one request do not wait for each other. No
 * foreign key: it is forgotten after a day, and would lock the project before everything else.
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
