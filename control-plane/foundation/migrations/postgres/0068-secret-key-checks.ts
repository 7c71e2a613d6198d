import type { Knex } from 'knex'

/** A wrong SECRET_KEY is noticed at the start (docs/design/encryption.md#key-check). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE secret_key_checks (
      -- one row, written by the first start
      id text PRIMARY KEY CHECK (id = 'secret_key'),
      -- a known text, encrypted with SECRET_KEY
      value bytea NOT NULL
    )
  `)
}
