import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** The chat app: installations, identities of users, and revocations that are still to be sent to the provider. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE chat_installations (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      team_id text NOT NULL,
      team_name text NOT NULL,
      scopes text[] NOT NULL,
      -- encrypted: the token of the bot and, if tokens expire, the refresh token
      tokens bytea NOT NULL,
      -- null: the token does not expire
      token_expires_at timestamptz,
      -- when the token is to be renewed; null: never
      renew_at timestamptz,
      -- end of the lease of the process that renews it: a refresh token works once
      renewing_until timestamptz,
      -- when users are matched again, or the end of the lease for it
      people_due_at timestamptz NOT NULL,
      installed_by uuid REFERENCES users ON DELETE SET NULL,
      installed_at timestamptz NOT NULL,
      -- the team removed the app: nothing can be sent until it is installed again
      revoked_at timestamptz,
      default_channel_id uuid REFERENCES alert_channels ON DELETE SET NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (project_id, team_id)
    );
    -- commands of a team belong to one project
    CREATE UNIQUE INDEX chat_installations_one_per_team ON chat_installations (team_id) WHERE revoked_at IS NULL;
    CREATE INDEX chat_installations_renewing ON chat_installations (renew_at) WHERE revoked_at IS NULL;
    CREATE INDEX chat_installations_matching ON chat_installations (people_due_at) WHERE revoked_at IS NULL;

    -- the installation of a channel; null: the channel has its own address
    ALTER TABLE alert_channels ADD COLUMN chat_installation_id uuid REFERENCES chat_installations ON DELETE CASCADE;
    -- the user of a direct message channel; null: an alert channel of the project
    ALTER TABLE alert_channels ADD COLUMN person_id uuid REFERENCES users ON DELETE CASCADE;
    CREATE INDEX alert_channels_of_installations ON alert_channels (chat_installation_id)
      WHERE chat_installation_id IS NOT NULL;
    CREATE UNIQUE INDEX alert_channels_of_people ON alert_channels (project_id, person_id) WHERE person_id IS NOT NULL;

    -- The account of a chat user. It outlives the installation.
    CREATE TABLE chat_identities (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      team_id text NOT NULL,
      chat_user_id text NOT NULL,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (project_id, team_id, chat_user_id),
      UNIQUE (project_id, team_id, user_id)
    );

    -- values that are valid once: states of installations, signatures of requests
    CREATE TABLE chat_spent (
      hash bytea PRIMARY KEY,
      forget_at timestamptz NOT NULL
    );
    CREATE INDEX chat_spent_by_age ON chat_spent (forget_at);

    -- grants that are still to be revoked at the provider
    CREATE TABLE chat_revocations (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      team_id text NOT NULL,
      tokens bytea NOT NULL,
      failures integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX chat_revocations_due ON chat_revocations (next_attempt_at);

    -- the chat message of a delivery, while its button is active
    ALTER TABLE deliveries ADD COLUMN chat_message jsonb;
    CREATE INDEX deliveries_with_buttons ON deliveries (project_id) WHERE chat_message IS NOT NULL;

    -- users who get a direct message when an incident opens
    ALTER TABLE alert_settings ADD COLUMN on_call_user_id uuid REFERENCES users ON DELETE SET NULL;
  `)
  await addAuditTrigger(db, 'chat_installations', {
    resource: 'chat_installation',
    name: 'team_name',
    ignored: ['default_channel_id', 'renew_at', 'renewing_until', 'people_due_at', 'token_expires_at'],
  })
  await addAuditTrigger(db, 'chat_identities', { resource: 'chat_identity', name: 'user_id' })
}
