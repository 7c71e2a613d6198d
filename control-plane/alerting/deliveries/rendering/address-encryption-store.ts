import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type Db, execute, query } from '../../../foundation/platform/postgres/client.ts'
import { encryptAddress } from './encrypted-address.ts'

const BATCH_SIZE = 500

/**
 * Seals addresses that a process of the version before wrote in plain text, among the next deliveries after an id; '' begins.
 * Answers the last id it looked at; null: it was the last one. Several processes may do so: a row that another one has locked
 * is left to the next round.
 */
export async function encryptPlainAddresses(db: Db, secrets: SecretCipher, after: string): Promise<string | null> {
  const [page] = await query<{ last: string | null; plain: string[] | null }>(
    db,
    `SELECT max(id) AS last, array_agg(id) FILTER (WHERE request_url IS NOT NULL) AS plain
     FROM (SELECT id, request_url FROM deliveries WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE}) next`,
    [after],
  )
  const { last, plain } = page!
  if (plain !== null) await encryptRows(db, secrets, plain)
  return last
}

const encryptRows = (db: Db, secrets: SecretCipher, ids: string[]) =>
  db.transaction(async tx => {
    const rows = await query<{ id: string; projectId: string; url: string }>(
      tx,
      `SELECT id, project_id AS "projectId", request_url AS url FROM deliveries
       WHERE id = ANY (?::text[]) AND request_url IS NOT NULL FOR UPDATE SKIP LOCKED`,
      [ids],
    )
    await execute(
      tx,
      `UPDATE deliveries d SET request_url = NULL, request_address = r.address
       FROM unnest(:ids::text[], :addresses::bytea[]) AS r (id, address) WHERE d.id = r.id`,
      { ids: rows.map(row => row.id), addresses: rows.map(row => encryptAddress(row.url, row, secrets)) },
    )
  })
