import type { MonitorType } from '../../../shared/checks/check.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../foundation/platform/postgres/joined-reads.ts'
import type { MonitorState } from '../core/types.ts'
import type { ObservedCertificate } from '../reader/counting/certificates.ts'
import type { ExpiryKind } from './expiry-event.ts'

/**
 * Locks monitors, and skips those that other transactions have locked. All transactions lock monitors first, in the
 * order of ids, then watches, then domains.
 */
export async function tryLockMonitors(tx: Tx, ids: string[]): Promise<{ free: string[]; locked: string[] }> {
  const rows = await query<{ id: string; isFree: boolean }>(
    tx,
    `WITH free AS (SELECT id FROM monitors WHERE id = ANY (:ids::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
     SELECT m.id, free.id IS NOT NULL AS "isFree" FROM monitors m LEFT JOIN free ON free.id = m.id
     WHERE m.id = ANY (:ids::uuid[])`,
    { ids },
  )
  const some = (isFree: boolean) => rows.filter(row => row.isFree === isFree).map(({ id }) => id)
  return { free: some(true), locked: some(false) }
}

/**
 * Stores the newest certificate of each region, if the configuration has not changed, on locked monitors. A certificate
 * that is older than the stored one changes nothing.
 */
export async function upsertCertificates(tx: Tx, seen: ObservedCertificate[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO certificates_seen (monitor_id, region, fingerprint, expires_at, seen_at)
     SELECT m.id, s.region, s.fingerprint, to_timestamp(s."expiresAtMs" / 1000), to_timestamp(s."seenAtMs" / 1000)
     FROM jsonb_to_recordset(?::jsonb) AS s ("monitorId" uuid, region text, "configVersion" integer, fingerprint text,
       "expiresAtMs" float8, "seenAtMs" float8)
     JOIN monitors m ON m.id = s."monitorId" AND m.config_version = s."configVersion"
     WHERE m.ssl_check AND NOT m.is_paused AND m.deleted_at IS NULL AND s.region = ANY (m.regions)
     ORDER BY m.id, s.region
     ON CONFLICT (monitor_id, region) DO UPDATE
       SET fingerprint = excluded.fingerprint, expires_at = excluded.expires_at, seen_at = excluded.seen_at
       WHERE certificates_seen.seen_at <= excluded.seen_at`,
    [JSON.stringify(seen)],
  )
}

/**
 * Deletes certificates that no longer count, on locked monitors (docs/design/heartbeats.md#certificates): those of regions
 * that do not check the monitor any more, and, for monitors of which a steady region was stored, those of regions that
 * have seen none for 30 hours while another region has seen one that ends later, or for 3 days while another region has
 * seen any.
 */
export async function deleteUnseenCertificates(tx: Tx, monitorIds: string[], steadyIds: string[]): Promise<void> {
  await execute(
    tx,
    `DELETE FROM certificates_seen c USING monitors m
     WHERE c.monitor_id = ANY (:monitorIds::uuid[]) AND m.id = c.monitor_id
       AND (c.region <> ALL (m.regions) OR c.monitor_id = ANY (:steadyIds::uuid[]) AND EXISTS (
         SELECT FROM certificates_seen newer
         WHERE newer.monitor_id = c.monitor_id AND newer.region = ANY (m.regions)
           AND newer.seen_at > c.seen_at
             + CASE WHEN newer.expires_at > c.expires_at THEN interval '30 hours' ELSE interval '3 days' END))`,
    { monitorIds, steadyIds },
  )
}

/** Watches and shows the certificate that ends first among those of a monitor's regions, on locked monitors. */
export async function watchEarliestCertificates(tx: Tx, monitorIds: string[], now: Date): Promise<void> {
  await execute(
    tx,
    `WITH earliest AS (
       SELECT DISTINCT ON (c.monitor_id) c.monitor_id, c.fingerprint, c.expires_at
       FROM certificates_seen c JOIN monitors m ON m.id = c.monitor_id AND c.region = ANY (m.regions)
       WHERE c.monitor_id = ANY (:monitorIds::uuid[])
       ORDER BY c.monitor_id, c.expires_at, c.fingerprint
     ), changed AS (
       INSERT INTO expiry_watches AS w (monitor_id, kind, identity, expires_at, next_look_at)
       SELECT monitor_id, 'tls', fingerprint, expires_at, :now FROM earliest ORDER BY monitor_id
       ON CONFLICT (monitor_id, kind) DO UPDATE
         SET identity = excluded.identity, expires_at = excluded.expires_at, next_look_at = excluded.next_look_at
         WHERE (w.identity, w.expires_at) IS DISTINCT FROM (excluded.identity, excluded.expires_at)
       RETURNING w.monitor_id, w.expires_at
     )
     UPDATE monitors SET ssl_expires_at = changed.expires_at FROM changed WHERE monitors.id = changed.monitor_id`,
    { monitorIds, now },
  )
}

/** A watch that is due, with the data of its monitor. */
export type DueExpiryWatch = {
  monitorId: string
  kind: ExpiryKind
  domain: string | null
  /** the fingerprint of the certificate or the identity of the registration; null for a domain without one yet */
  identity: string | null
  expiresAt: Date | null
  projectId: string
  name: string
  url: string | null
  type: MonitorType
  status: string | null
  regions: string[]
  isPaused: boolean
  isDeleted: boolean
}

/** Whether a watch is due; a cheap query for the usual case that none is. */
export const hasDueWatch = (db: Db, now: Date): Promise<boolean> =>
  hasRowsJoined(db, 'SELECT FROM expiry_watches WHERE next_look_at <= ?', [now])

/**
 * Locks due watches and their monitors, and skips those of other processes. The work ends with the transaction, so no
 * lease is needed.
 */
export function claimDueWatches(tx: Tx, now: Date, limit: number): Promise<DueExpiryWatch[]> {
  return query(
    tx,
    `SELECT w.monitor_id AS "monitorId", w.kind, w.domain, w.identity, w.expires_at AS "expiresAt",
       m.project_id AS "projectId", m.name, m.url, m.type, m.status, m.regions, m.is_paused AS "isPaused",
       m.deleted_at IS NOT NULL AS "isDeleted"
     FROM expiry_watches w JOIN monitors m ON m.id = w.monitor_id
     WHERE w.next_look_at <= :now
     ORDER BY w.next_look_at LIMIT :limit
     FOR NO KEY UPDATE OF w, m SKIP LOCKED`,
    { now, limit },
  )
}

export type ExpiryWarning = { monitorId: string; kind: ExpiryKind; identity: string; warnedDays: number }

/** The warnings that were sent for these monitors. */
export function listWarnings(tx: Tx, monitorIds: string[]): Promise<ExpiryWarning[]> {
  return query(
    tx,
    `SELECT monitor_id AS "monitorId", kind, identity, warned_days AS "warnedDays" FROM expiry_warnings
     WHERE monitor_id = ANY (?::uuid[])`,
    [monitorIds],
  )
}

export async function upsertWarnings(tx: Tx, warned: ExpiryWarning[], now: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO expiry_warnings (monitor_id, kind, identity, warned_days, warned_at)
     SELECT "monitorId", kind, identity, "warnedDays", :now
     FROM jsonb_to_recordset(:rows::jsonb) AS r ("monitorId" uuid, kind text, identity text, "warnedDays" smallint)
     ON CONFLICT (monitor_id, kind, identity) DO UPDATE
       SET warned_days = excluded.warned_days, warned_at = excluded.warned_at`,
    { rows: JSON.stringify(warned), now },
  )
}

/** Sets when locked watches are looked at again; null: when something changes. */
export async function scheduleWatches(
  tx: Tx,
  rows: { monitorId: string; kind: ExpiryKind; nextLookAt: Date | null }[],
): Promise<void> {
  await execute(
    tx,
    `UPDATE expiry_watches w SET next_look_at = r."nextLookAt"
     FROM jsonb_to_recordset(?::jsonb) AS r ("monitorId" uuid, kind text, "nextLookAt" timestamptz)
     WHERE w.monitor_id = r."monitorId" AND w.kind = r.kind`,
    [JSON.stringify(rows)],
  )
}

/** The verdict states of monitors, by monitor. */
export async function loadVerdictStates(db: Db, monitorIds: string[]): Promise<Map<string, MonitorState>> {
  const rows = await query<{ id: string; state: MonitorState }>(
    db,
    'SELECT monitor_id AS id, state FROM verdict_states WHERE monitor_id = ANY (?::uuid[])',
    [monitorIds],
  )
  return new Map(rows.map(({ id, state }) => [id, state]))
}
