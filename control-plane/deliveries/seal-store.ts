import { type Db, execute, query } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { sealAddress } from './address.ts'

const AT_ONCE = 500

/**
 * Seals addresses that a process of the version before wrote in plain text. Answers whether there may be more. Several
 * processes may do so: they take different rows.
 */
export function sealOldAddresses(db: Db, secrets: Secrets): Promise<boolean> {
  return db.transaction(async tx => {
    const rows = await query<{ id: string; projectId: string; url: string }>(
      tx,
      `SELECT id, project_id AS "projectId", request_url AS url FROM deliveries
       WHERE request_url IS NOT NULL LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED`,
    )
    if (rows.length === 0) return false
    await execute(
      tx,
      `UPDATE deliveries d SET request_url = NULL, request_address = r.address
       FROM unnest(:ids::text[], :addresses::bytea[]) AS r (id, address) WHERE d.id = r.id`,
      { ids: rows.map(row => row.id), addresses: rows.map(row => sealAddress(row.url, row, secrets)) },
    )
    return rows.length === AT_ONCE
  })
}
