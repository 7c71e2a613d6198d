import type { Knex } from 'knex'

/** Confirmed addresses of mail channels, and the number of mails of a day. */
export async function up(db: Knex): Promise<void> {
  // reading the log takes a while, so it happens before any lock
  const delivered = await deliveredMails(db)
  await db.raw(`
    CREATE TABLE mail_addresses (
      organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
      address text NOT NULL CHECK (address = lower(address)),
      -- when the last confirmation was sent; null: none, an earlier address that counts as confirmed
      asked_at timestamptz,
      token_hash bytea UNIQUE,
      expires_at timestamptz,
      confirmed_at timestamptz,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (organization_id, address)
    );
    CREATE INDEX mail_addresses_unconfirmed ON mail_addresses (expires_at) WHERE confirmed_at IS NULL;

    -- Mails are counted before they are sent, by day (UTC). The subject is a hash.
    CREATE TABLE mail_counts (
      day date NOT NULL,
      subject bytea NOT NULL,
      used integer NOT NULL,
      PRIMARY KEY (day, subject)
    );

    -- Channels that are older than the log of deliveries and whose last delivery did not fail: a success may have been
    -- deleted from the log. Their addresses count as confirmed until the channel gets others.
    CREATE TABLE trusted_mail_channels (
      channel_id uuid PRIMARY KEY REFERENCES alert_channels ON DELETE CASCADE
    );
    INSERT INTO trusted_mail_channels
    SELECT id FROM alert_channels
    WHERE type = 'email' AND NOT is_paused AND consecutive_failures = 0 AND created_at < now() - interval '30 days';
  `)
  await confirmDelivered(db, delivered)
}

type DeliveredMail = { organization: string; url: string; error: string | null }

/** The addresses to which mails were delivered, from the log, because channels are encrypted. */
async function deliveredMails(db: Knex): Promise<DeliveredMail[]> {
  const { rows } = await db.raw<{ rows: DeliveredMail[] }>(`
    SELECT DISTINCT p.organization_id AS organization, d.request_url AS url, d.attempts -> -1 ->> 'error' AS error
    FROM alert_channels c JOIN projects p ON p.id = c.project_id
    JOIN deliveries d ON d.channel_id = c.id
    WHERE c.type = 'email' AND d.status = 'delivered' AND d.request_url LIKE 'mailto:%'`)
  return rows
}

async function confirmDelivered(db: Knex, rows: DeliveredMail[]): Promise<void> {
  const taken = rows.flatMap(({ organization, url, error }) =>
    url
      .slice('mailto:'.length)
      .split(',')
      .flatMap(decoded)
      // the error of a mail that one recipient rejected names that recipient
      .filter(address => !error?.toLowerCase().includes(address))
      .map(address => ({ organization, address })),
  )
  await db.raw(
    `INSERT INTO mail_addresses (organization_id, address, confirmed_at, created_at)
     SELECT organization, lower(address), now(), now()
     FROM unnest(CAST(:organizations AS uuid[]), CAST(:addresses AS text[])) AS r (organization, address)
     JOIN organizations o ON o.id = organization
     ON CONFLICT DO NOTHING`,
    { organizations: taken.map(one => one.organization), addresses: taken.map(one => one.address) },
  )
}

function decoded(text: string): string[] {
  try {
    return [decodeURI(text).toLowerCase()]
  } catch {
    return []
  }
}
