import type { Knex } from 'knex'

/** Chat users can be disconnected from members, and are not matched again by email (docs/design/chat.md#identities). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- null: the chat user acts as the member
    ALTER TABLE chat_identities ADD COLUMN disconnected_at timestamptz;
  `)
}
