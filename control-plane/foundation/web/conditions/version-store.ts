import { type Db, query, type Tx } from '../../platform/postgres/client.ts'
import type { RecordKey, RecordVersion, RequestVersion } from './record-version.ts'

const OWN_PROJECT = 'project_id = CAST(:projectId AS uuid)'

/** The settings of a row as a short hash. A ciphertext is a part of it, so another secret is another version. */
const buildTag = ({ ignored = [], related = 'NULL' }: RecordVersion) => `left(encode(sha256(convert_to(CAST(
  jsonb_build_array(to_jsonb(record) - CAST('{${['updated_at', ...ignored]}}' AS text[]), ${related}) AS text), 'UTF8')), 'hex'), 32)`

/** The tag of a record; null when the project has no such record. */
export async function findTag(db: Db, record: RecordVersion, key: RecordKey): Promise<string | null> {
  const [row] = await query<{ tag: string }>(
    db,
    `SELECT ${buildTag(record)} AS tag FROM ${record.table} record WHERE id = :id AND ${record.scope ?? OWN_PROJECT}`,
    key,
  )
  return row?.tag ?? null
}

/**
 * Locks a record as its update or deletion does: a stronger lock later could meet that of another transaction. A statement of
 * its own: one that waits for a lock reads other tables as they were before.
 */
export async function lockRecord(tx: Tx, { record, isDeletion }: RequestVersion, key: RecordKey): Promise<void> {
  const { table, scope = OWN_PROJECT, lock } = record
  const strength = isDeletion ? 'UPDATE' : 'NO KEY UPDATE'
  await tx.raw(lock ?? `SELECT FROM ${table} record WHERE id = :id AND ${scope} FOR ${strength}`, key)
}

/** The tags of the rows that a transaction created, by id. `since`: an id that is older than all of them. */
export async function listCreatedTags(tx: Tx, record: RecordVersion, since: string): Promise<Map<string, string>> {
  const rows = await query<{ id: string; tag: string }>(
    tx,
    `SELECT id, ${buildTag(record)} AS tag FROM ${record.table} record
     WHERE id > :since AND xmin = CAST(pg_current_xact_id() AS xid)`,
    { since },
  )
  return new Map(rows.map(({ id, tag }) => [id, tag]))
}
