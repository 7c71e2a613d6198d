import { type Db, execute, query, type Tx } from '../../platform/postgres/client.ts'
import { conflict } from './errors.ts'

/** How long a first answer is stored (docs/design/api.md#idempotency-keys). */
const ANSWER_RETENTION_MS = 24 * 3_600_000

/** After this time a request without an answer counts as crashed. Longer than the slowest answer, a check on demand of 65 s. */
const ABANDONED_AFTER_MS = 90_000

/** A request that has claimed an Idempotency-Key. */
export type IdempotencyClaim = { projectId: string; key: string; at: Date }

type StoredAnswer = {
  requestHash: Buffer
  /** null: there is no answer yet, or the request crashed */
  status: number | null
  answer: Buffer | null
  createdAt: Date
}

/**
 * Claims an idempotency key for a request. True: execute the request. False: another request has the key. A claim that is
 * older than a day is replaced, and so is one whose request crashed, unless a transaction of it was committed.
 */
export async function takeIdempotencyKey(db: Db, claim: IdempotencyClaim, requestHash: Buffer): Promise<boolean> {
  const { projectId, key, at } = claim
  const claimed = await execute(
    db,
    `INSERT INTO idempotency_keys (project_id, key, request_hash, created_at) VALUES (:projectId, :key, :requestHash, :at)
     ON CONFLICT (project_id, key) DO UPDATE
       SET request_hash = :requestHash, created_at = :at, status = NULL, answer = NULL
       WHERE idempotency_keys.created_at < :expired`,
    { projectId, key, requestHash, at, expired: new Date(at.getTime() - ANSWER_RETENTION_MS) },
  )
  return claimed === 1 || (await takeAbandonedKey(db, claim, requestHash))
}

/** Takes the key of a request that crashed. A request that is slow, and in a transaction now, keeps it. */
const takeAbandonedKey = (db: Db, { projectId, key, at }: IdempotencyClaim, requestHash: Buffer): Promise<boolean> =>
  db.transaction(async tx => {
    const abandoned = await query(
      tx,
      `SELECT FROM idempotency_keys WHERE project_id = ? AND key = ? AND status IS NULL AND created_at < ?
       FOR UPDATE SKIP LOCKED`,
      [projectId, key, new Date(at.getTime() - ABANDONED_AFTER_MS)],
    )
    if (abandoned.length === 0) return false
    // a statement of its own, which sees the marks of transactions that have just been committed
    const taken = await execute(
      tx,
      `UPDATE idempotency_keys SET request_hash = ?, created_at = ? WHERE project_id = ? AND key = ? AND NOT ${IS_CARRIED_OUT}`,
      [requestHash, at, projectId, key],
    )
    return taken === 1
  })

const IS_CARRIED_OUT = `EXISTS (SELECT FROM idempotency_marks mark WHERE mark.project_id = idempotency_keys.project_id
  AND mark.key = idempotency_keys.key AND mark.claimed_at = idempotency_keys.created_at)`

/**
 * Records, in a transaction of the request itself, that a part of it was carried out. Each transaction inserts its own row,
 * because transactions that write the same row wait for each other. Keeps the claim until the transaction ends. Throws 409 if
 * another request took it, because this one seemed to have crashed.
 */
export async function markCarriedOut(tx: Tx, { projectId, key, at }: IdempotencyClaim): Promise<void> {
  const marked = await execute(
    tx,
    `INSERT INTO idempotency_marks (project_id, key, claimed_at)
     SELECT project_id, key, created_at FROM idempotency_keys WHERE project_id = ? AND key = ? AND created_at = ?
     FOR KEY SHARE`,
    [projectId, key, at],
  )
  if (marked === 0)
    throw conflict('another request with this Idempotency-Key is being processed, because this one took too long')
}

/** The stored answer of a key; null when it was deleted meanwhile. */
export async function findStoredAnswer(db: Db, { projectId, key }: IdempotencyClaim): Promise<StoredAnswer | null> {
  const [row] = await query<StoredAnswer>(
    db,
    `SELECT request_hash AS "requestHash", status, answer, created_at AS "createdAt" FROM idempotency_keys
     WHERE project_id = ? AND key = ?`,
    [projectId, key],
  )
  return row ?? null
}

/** Whether a request without an answer began so long ago that it must have crashed. */
export const isAbandoned = ({ createdAt }: StoredAnswer, now: Date) =>
  now.getTime() - createdAt.getTime() > ABANDONED_AFTER_MS

/** Stores the answer of the request that has the claim, unless another request claimed the key meanwhile. */
export async function storeAnswer(
  db: Db,
  { projectId, key, at }: IdempotencyClaim,
  status: number,
  answer: Buffer,
): Promise<void> {
  await execute(
    db,
    'UPDATE idempotency_keys SET status = ?, answer = ? WHERE project_id = ? AND key = ? AND created_at = ?',
    [status, answer, projectId, key, at],
  )
}

/** Releases a key, so that the request may be sent again. False: a part of it was carried out. */
export async function releaseIdempotencyKey(db: Db, { projectId, key, at }: IdempotencyClaim): Promise<boolean> {
  const released = await execute(
    db,
    `DELETE FROM idempotency_keys WHERE project_id = ? AND key = ? AND created_at = ? AND NOT ${IS_CARRIED_OUT}`,
    [projectId, key, at],
  )
  return released === 1
}

/** Deletes claims that are older than a day. Returns their number. */
export async function pruneIdempotencyKeys(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - ANSWER_RETENTION_MS)
  await execute(db, 'DELETE FROM idempotency_marks WHERE claimed_at < ?', [before])
  return execute(db, 'DELETE FROM idempotency_keys WHERE created_at < ?', [before])
}
