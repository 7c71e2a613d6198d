import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type Db, execute, query } from '../../../foundation/platform/postgres/client.ts'
import { encryptAddress } from './encrypted-address.ts'

const BATCH_SIZE = 500

/**
 * Encrypts addresses that a process of the previous version wrote in plain text, in the next batch of deliveries after an
 * id ('' for the first batch). Returns the last id of the batch; null when there are no more. Several processes may run
 * it: a row that another one has locked is left to the next round.
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
