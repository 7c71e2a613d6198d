import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../../foundation/platform/postgres/joined-reads.ts'
import { buildClaimableSql, claimUsedRows, type LeaseRequest } from '../../../foundation/platform/postgres/lease.ts'

/** A domain whose registration has to be looked up, with the known registration. */
export type DueDomain = { name: string; identity: string | null; expiresAt: Date | null; failures: number }

const DOMAINS = { table: 'domains', key: 'name', dueAt: 'next_look_at' }
/** of each top-level domain those that have been due the longest, up to its free places */
const HAS_PLACE = `t.name IN (
  SELECT ranked.name FROM (
    SELECT d.name, d.tld, row_number() OVER (PARTITION BY d.tld ORDER BY d.next_look_at, d.name) AS place
    FROM (
      SELECT name, next_look_at, substring(name from '[^.]*$') AS tld FROM domains
      WHERE next_look_at <= CAST(:now AS timestamptz)
    ) d
  ) ranked
  WHERE ranked.place <= :limitPerTld - coalesce(CAST(CAST(:running AS jsonb) ->> ranked.tld AS integer), 0))`
const DUE_COLUMNS = 'name, identity, expires_at AS "expiresAt", failures'
const IS_WATCHED = 'EXISTS (SELECT FROM expiry_watches w WHERE w.domain = t.name)'

/** How many look-ups run at the same time for each top-level domain: the most, and now. */
type TldPlaces = { limitPerTld: number; running: ReadonlyMap<string, number> }

/**
 * Claims domains that are due, of each top-level domain as many as it has free places. If the process ends in the meantime,
 * they are due again. Deletes domains that no monitor uses.
 */
export async function claimDueDomains(
  db: Db,
  { limitPerTld, running }: TldPlaces,
  request: LeaseRequest & { now: Date },
): Promise<DueDomain[]> {
  if (!(await hasRowsJoined(db, `SELECT ${buildClaimableSql(DOMAINS)}`, { now: request.now }))) return []
  const places = { limitPerTld, running: JSON.stringify(Object.fromEntries(running)) }
  const limited = { ...DOMAINS, condition: HAS_PLACE }
  return claimUsedRows<DueDomain>(db, limited, DUE_COLUMNS, IS_WATCHED, { ...request, ...places })
}

/** Stores a registration. `updateWatches` has to follow; it also ends the claim. */
export async function storeRegistration(
  db: Db,
  name: string,
  found: { identity: string; expiresAt: Date; source: string },
  now: Date,
): Promise<void> {
  await execute(
    db,
    `UPDATE domains SET identity = :identity, expires_at = :expiresAt, source = :source, failures = 0,
       last_error = NULL, looked_at = :now WHERE name = :name`,
    { name, ...found, now },
  )
}

/** Stores a failed look-up. The known registration stays. */
export async function storeLookupFailure(
  db: Db,
  name: string,
  failure: { error: string; failures: number; nextLookAt: Date },
  now: Date,
): Promise<void> {
  await execute(
    db,
    `UPDATE domains SET failures = :failures, last_error = :error, looked_at = :now, next_look_at = :nextLookAt
     WHERE name = :name`,
    { name, ...failure, now },
  )
}

/** Copies the registration of a domain to all monitors that use it, and ends the claim. */
export async function updateWatches(tx: Tx, name: string, nextLookAt: Date, now: Date): Promise<void> {
  await query(
    tx,
    `SELECT m.id FROM monitors m JOIN expiry_watches w ON w.monitor_id = m.id
     WHERE w.domain = ? ORDER BY m.id FOR NO KEY UPDATE OF m`,
    [name],
  )
  await execute(
    tx,
    `WITH changed AS (
       UPDATE expiry_watches w SET identity = d.identity, expires_at = d.expires_at, next_look_at = :now
       FROM domains d WHERE d.name = :name AND w.domain = d.name
         AND (w.identity, w.expires_at) IS DISTINCT FROM (d.identity, d.expires_at)
       RETURNING w.monitor_id, w.expires_at
     )
     UPDATE monitors SET domain_expires_at = changed.expires_at FROM changed WHERE monitors.id = changed.monitor_id`,
    { name, now },
  )
  await execute(tx, 'UPDATE domains SET next_look_at = :nextLookAt WHERE name = :name', { name, nextLookAt })
}

/**
 * Links claimed watches to their domains. A new domain is looked up next; a known registration is copied now. The
 * domain is locked, so that a registration that is found in the meantime reaches the watches as well. A domain that is
 * deleted in the meantime, because nothing used it, is inserted again.
 */
export async function linkWatches(
  tx: Tx,
  links: { monitorId: string; domain: string | null }[],
  now: Date,
): Promise<void> {
  const rows = JSON.stringify(links)
  const names = [...new Set(links.flatMap(({ domain }) => domain ?? []))].sort()
  await execute(
    tx,
    `INSERT INTO domains (name, next_look_at) SELECT name, :now FROM unnest(:names::text[]) AS d (name)
     ON CONFLICT (name) DO UPDATE SET name = excluded.name`,
    { names, now },
  )
  await execute(
    tx,
    `WITH linked AS (
       UPDATE expiry_watches w SET domain = l.domain, identity = d.identity, expires_at = d.expires_at,
         next_look_at = CASE WHEN d.expires_at IS NOT NULL THEN :now::timestamptz END
       FROM jsonb_to_recordset(:rows::jsonb) AS l ("monitorId" uuid, domain text) LEFT JOIN domains d ON d.name = l.domain
       WHERE w.monitor_id = l."monitorId" AND w.kind = 'domain'
       RETURNING w.monitor_id, w.expires_at
     )
     UPDATE monitors SET domain_expires_at = linked.expires_at FROM linked WHERE monitors.id = linked.monitor_id`,
    { rows, now },
  )
}
