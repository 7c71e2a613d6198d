import type { Knex } from 'knex'

/**
 * Sign-in by password: sessions, links for setting a password, counters against guessing, and mails about accounts, which are
 * rows until the mail server has accepted them.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- a reset of a forgotten password is a link like the one that claims an account
    ALTER TABLE claim_links ADD COLUMN purpose text NOT NULL DEFAULT 'claim' CHECK (purpose IN ('claim', 'reset'));
    -- it is sent only to that address by mail
    ALTER TABLE claim_links ADD COLUMN proves_email boolean NOT NULL DEFAULT false;
    ALTER TABLE users ADD COLUMN email_proven_at timestamptz;
    -- of an account that another person created: it gives no access until the address is confirmed
    ALTER TABLE memberships ADD COLUMN awaits_proof boolean NOT NULL DEFAULT false;
    CREATE INDEX claim_links_by_user ON claim_links (user_id);
    CREATE INDEX claim_links_by_age ON claim_links (expires_at);

    CREATE TABLE sessions (
      id uuid PRIMARY KEY,
      token_hash bytea NOT NULL UNIQUE,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      -- the selected organization; null: the user has none
      organization_id uuid REFERENCES organizations ON DELETE SET NULL,
      last_seen_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
    CREATE INDEX sessions_by_age ON sessions (expires_at);
    CREATE INDEX memberships_by_user ON memberships (user_id);

    -- counters of limited attempts; the subject is a hash, so that the table contains no addresses
    CREATE TABLE password_attempts (
      subject bytea NOT NULL,
      at timestamptz NOT NULL
    );
    CREATE INDEX password_attempts_by_subject ON password_attempts (subject, at);
    CREATE INDEX password_attempts_by_age ON password_attempts (at);

    CREATE TABLE account_mails (
      id uuid PRIMARY KEY,
      -- encrypted, because it contains a link
      letter bytea NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX account_mails_due ON account_mails (next_attempt_at);
  `)
}
