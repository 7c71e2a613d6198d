import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'

/** Tokens and probes belong to the operator, not to a project: none of these statements reads a tenant's data. */

type ProbeTokenRow = {
  id: string
  region: string
  isReusable: boolean
  hash: Buffer
  now: Date
  expiresAt: Date | null
}

export async function insertProbeToken(db: Db | Tx, row: ProbeTokenRow): Promise<void> {
  await execute(
    db,
    `INSERT INTO probe_tokens (id, region, is_reusable, token_hash, created_at, expires_at)
     VALUES (:id, :region, :isReusable, :hash, :now, :expiresAt)`,
    row,
  )
}

type ProbeToken = { id: string; region: string; isReusable: boolean; isExpired: boolean; isUsed: boolean }

/** Finds the token with a hash, unless it is revoked. Records its use, at most once a minute. */
export async function useProbeToken(db: Db, hash: Buffer): Promise<ProbeToken | null> {
  const rows = await query<ProbeToken & { isStale: boolean }>(
    db,
    `SELECT id, region, is_reusable AS "isReusable", COALESCE(expires_at < now(), false) AS "isExpired",
       NOT is_reusable AND EXISTS (SELECT FROM probes WHERE token_id = probe_tokens.id) AS "isUsed",
       last_used_at IS NULL OR last_used_at < now() - interval '1 minute' AS "isStale"
     FROM probe_tokens WHERE token_hash = ? AND revoked_at IS NULL`,
    [hash],
  )
  const token = rows[0]
  if (!token) return null
  if (token.isStale) await execute(db, 'UPDATE probe_tokens SET last_used_at = now() WHERE id = ?', [token.id])
  return token
}

/** `capabilities`: as announced at its last connection. `isRevoked`: the probe or the token that admitted it was revoked. */
type EnrolledProbe = { id: string; tokenId: string; region: string; capabilities: string[]; isRevoked: boolean }

/** Finds the probe with a secret. */
export async function findProbeBySecret(db: Db, secretHash: Buffer): Promise<EnrolledProbe | null> {
  const rows = await query<EnrolledProbe>(
    db,
    `SELECT p.id, p.token_id AS "tokenId", p.region, p.capabilities,
       COALESCE(p.revoked_at, t.revoked_at) IS NOT NULL AS "isRevoked"
     FROM probes p JOIN probe_tokens t ON t.id = p.token_id WHERE p.secret_hash = ?`,
    [secretHash],
  )
  return rows[0] ?? null
}

/**
 * Lists the SHA-256 hashes of credentials that are valid, the newest first: secrets of probes that were connected in the
 * last 30 days, and reusable tokens.
 */
export async function listCredentialHashes(db: Db, limit: number): Promise<Buffer[]> {
  const rows = await query<{ hash: Buffer }>(
    db,
    `SELECT token_hash AS hash, created_at AS used_at FROM probe_tokens WHERE is_reusable AND revoked_at IS NULL
     UNION ALL
     SELECT secret_hash, last_seen_at FROM probes
     WHERE secret_hash IS NOT NULL AND revoked_at IS NULL AND last_seen_at > now() - interval '30 days'
     ORDER BY used_at DESC LIMIT ?`,
    [limit],
  )
  return rows.map(row => row.hash)
}

export type ProbeRow = {
  /** the id of a new probe */
  id: string
  tokenId: string
  region: string
  secretHash: Buffer | null
  name: string
  instanceId: string
  version: string
  capabilities: string[]
  connectedTo: string
}

/** Finds the capabilities that the probe of a token and a name announced at its last connection. Null for a new probe. */
export async function findCapabilities(db: Db, tokenId: string, name: string): Promise<string[] | null> {
  const rows = await query<{ capabilities: string[] }>(
    db,
    'SELECT capabilities FROM probes WHERE token_id = ? AND name = ?',
    [tokenId, name],
  )
  return rows[0]?.capabilities ?? null
}

/**
 * Enrols a probe with a token. The probe is identified by token and name, and from now on by its secret. Returns null when
 * the probe of that name was revoked. `connected_at` equals `created_at` only for its first connection.
 */
export async function enrolProbe(db: Db | Tx, row: ProbeRow): Promise<string | null> {
  const rows = await query<{ id: string }>(
    db,
    `INSERT INTO probes (id, token_id, region, secret_hash, name, instance_id, version, capabilities, connected_to,
       connected_at, last_seen_at, created_at)
     VALUES (:id, :tokenId, :region, :secretHash, :name, :instanceId, :version, :capabilities, :connectedTo,
       now(), now(), now())
     ON CONFLICT (token_id, name) DO UPDATE SET
       secret_hash = COALESCE(EXCLUDED.secret_hash, probes.secret_hash), instance_id = EXCLUDED.instance_id,
       version = EXCLUDED.version, capabilities = EXCLUDED.capabilities, connected_to = EXCLUDED.connected_to,
       connected_at = now(), last_seen_at = now(), is_draining = false
     WHERE probes.revoked_at IS NULL
     RETURNING id`,
    row,
  )
  return rows[0]?.id ?? null
}

/** Records a connection of a probe that is identified by its secret. Its name may have changed. Null when it was revoked. */
export async function reconnectProbe(db: Db | Tx, row: ProbeRow): Promise<string | null> {
  const rows = await query<{ id: string }>(
    db,
    `UPDATE probes SET name = :name, instance_id = :instanceId, version = :version, capabilities = :capabilities,
       connected_to = :connectedTo, connected_at = now(), last_seen_at = now(), is_draining = false
     WHERE id = :id AND revoked_at IS NULL RETURNING id`,
    row,
  )
  return rows[0]?.id ?? null
}

/** Locks a token until the transaction ends. Returns true when it admitted another probe than the one with this secret. */
export async function lockTokenUsedByAnother(tx: Tx, tokenId: string, secretHash: Buffer | null): Promise<boolean> {
  await execute(tx, 'SELECT FROM probe_tokens WHERE id = ? FOR UPDATE', [tokenId])
  const rows = await query(
    tx,
    'SELECT FROM probes WHERE token_id = :tokenId AND secret_hash IS DISTINCT FROM CAST(:secretHash AS bytea) LIMIT 1',
    { tokenId, secretHash },
  )
  return rows.length > 0
}

const NOTIFY = `SELECT pg_notify('probes_revoked', '') FROM revoked`

/** Revokes a token, by its hash or its id, and every probe that it admitted. Returns false when it is unknown. */
export async function revokeToken(db: Db, token: { hash: Buffer } | { id: string }): Promise<boolean> {
  const rows = await query(
    db,
    `WITH revoked AS (UPDATE probe_tokens SET revoked_at = COALESCE(revoked_at, now())
       WHERE ${'hash' in token ? 'token_hash = :hash' : 'id = :id'} RETURNING id) ${NOTIFY}`,
    token,
  )
  return rows.length > 0
}

/** Revokes a probe. Returns false when it does not exist. */
export async function revokeProbeById(db: Db, id: string): Promise<boolean> {
  const rows = await query(
    db,
    `WITH revoked AS (UPDATE probes SET revoked_at = COALESCE(revoked_at, now()) WHERE id = ? RETURNING id) ${NOTIFY}`,
    [id],
  )
  return rows.length > 0
}

/** SQL of the probes that were revoked, or whose token was, within the last `:withinMs`. */
export const REVOKED_PROBES_SQL = `
  SELECT p.id, p.region FROM probes p JOIN probe_tokens t ON t.id = p.token_id
  WHERE LEAST(p.revoked_at, t.revoked_at) > now() - :withinMs * interval '1 millisecond'`

/** Lists the probes that were revoked, or whose token was, within the last `withinMs`. */
export function listRevokedProbes(db: Db, withinMs: number): Promise<{ id: string; region: string }[]> {
  return query(db, REVOKED_PROBES_SQL, { withinMs })
}

export type ListedProbe = {
  id: string
  region: string
  name: string
  isRevoked: boolean
  isDrained: boolean
  lastSeenAt: Date
}

/** Lists all probes that ever connected, for the operator's command line. */
export function listProbes(db: Db): Promise<ListedProbe[]> {
  return query(
    db,
    `SELECT p.id, p.region, p.name, COALESCE(p.revoked_at, t.revoked_at) IS NOT NULL AS "isRevoked",
       COALESCE(p.drained_until > now(), false) AS "isDrained", p.last_seen_at AS "lastSeenAt"
     FROM probes p JOIN probe_tokens t ON t.id = p.token_id ORDER BY p.region, p.name, p.id`,
  )
}
