import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'

export type AddressState = { address: string; isConfirmed: boolean; askedAt: Date | null }

/**
 * SQL: the user who proved the address is a member, proved it after joining, and has entered the organization. An earlier
 * proof, or one by a link of another organization, is not enough: the user has not agreed to emails of this organization.
 */
const IS_MEMBER = `EXISTS (
  SELECT FROM users u JOIN memberships m ON m.user_id = u.id
  WHERE u.email = w.address AND m.organization_id = w.organization_id AND NOT m.awaits_proof
    AND m.entered_at IS NOT NULL AND u.email_proven_at >= m.created_at)`

/** Reads the states of addresses of organizations. Addresses are in lower case. */
export function listAddressStates(
  db: Db,
  wanted: { organizationId: string; address: string }[],
): Promise<(AddressState & { organizationId: string })[]> {
  return query(
    db,
    `SELECT w.organization_id AS "organizationId", w.address, a.asked_at AS "askedAt",
       a.confirmed_at IS NOT NULL OR ${IS_MEMBER} AS "isConfirmed"
     FROM unnest(:organizations::uuid[], :addresses::text[]) AS w (organization_id, address)
     LEFT JOIN mail_addresses a ON a.organization_id = w.organization_id AND a.address = w.address`,
    { organizations: wanted.map(one => one.organizationId), addresses: wanted.map(one => one.address) },
  )
}

type ConfirmationRequest = { address: string; tokenHash: Buffer }

/** Stores confirmation requests. Returns the addresses to write to: not confirmed, and not requested since `before`. */
export async function storeConfirmationRequests(
  tx: Tx,
  organizationId: string,
  requests: ConfirmationRequest[],
  times: { now: Date; expiresAt: Date; before: Date },
): Promise<string[]> {
  const rows = await query<{ address: string }>(
    tx,
    `INSERT INTO mail_addresses AS a (organization_id, address, asked_at, token_hash, expires_at, created_at)
     SELECT :organizationId, address, :now, decode(token_hash, 'hex'), :expiresAt, :now
     FROM unnest(:addresses::text[], :hashes::text[]) AS r (address, token_hash) ORDER BY address
     ON CONFLICT (organization_id, address) DO UPDATE
       SET asked_at = excluded.asked_at, token_hash = excluded.token_hash, expires_at = excluded.expires_at
       WHERE a.confirmed_at IS NULL AND a.asked_at <= :before
     RETURNING address`,
    {
      organizationId,
      ...times,
      addresses: requests.map(one => one.address),
      hashes: requests.map(one => one.tokenHash.toString('hex')),
    },
  )
  return rows.map(({ address }) => address)
}

/** Of the given channels, those that are older than confirmations, and whose addresses count as confirmed. */
export async function listTrustedChannelIds(db: Db, channelIds: string[]): Promise<Set<string>> {
  const sql = 'SELECT channel_id AS id FROM trusted_mail_channels WHERE channel_id = ANY (?::uuid[])'
  return new Set((await query<{ id: string }>(db, sql, [channelIds])).map(({ id }) => id))
}

/** Ends the trust in an old channel. Its current addresses stay confirmed; new ones are not. */
export async function endChannelTrust(
  tx: Tx,
  organizationId: string,
  channelId: string,
  addresses: string[],
  now: Date,
) {
  const ended = await execute(tx, 'DELETE FROM trusted_mail_channels WHERE channel_id = ?', [channelId])
  if (ended === 0) return
  await execute(
    tx,
    `INSERT INTO mail_addresses AS a (organization_id, address, confirmed_at, created_at)
     SELECT :organizationId, address, :now, :now FROM unnest(:addresses::text[]) AS r (address) ORDER BY address
     ON CONFLICT (organization_id, address) DO UPDATE SET confirmed_at = coalesce(a.confirmed_at, :now)`,
    { organizationId, addresses, now },
  )
}

export type AddressConfirmation = { organization: string; address: string; state: 'open' | 'used' | 'expired' }

/** Finds what a link asks to confirm. Returns null for an unknown link. */
export async function findAddressConfirmation(
  db: Db,
  tokenHash: Buffer,
  now: Date,
): Promise<AddressConfirmation | null> {
  const [row] = await query<AddressConfirmation>(
    db,
    `SELECT o.name AS organization, a.address,
       CASE WHEN a.confirmed_at IS NOT NULL THEN 'used' WHEN a.expires_at <= :now THEN 'expired' ELSE 'open' END AS state
     FROM mail_addresses a JOIN organizations o ON o.id = a.organization_id
     WHERE a.token_hash = :tokenHash AND o.deleted_at IS NULL`,
    { tokenHash, now },
  )
  return row ?? null
}

/** Returns false when the link was used before or has expired. */
export async function confirmAddress(db: Db, tokenHash: Buffer, now: Date): Promise<boolean> {
  const sql = `UPDATE mail_addresses SET confirmed_at = :now
    WHERE token_hash = :tokenHash AND confirmed_at IS NULL AND expires_at > :now`
  return (await execute(db, sql, { tokenHash, now })) === 1
}
