import { type Db, execute, query } from '../platform/postgres.ts'

/** How long a first answer is kept (decisions 1.6). */
export const KEPT_MS = 24 * 3_600_000

/** After this a request that never finished counts as crashed. Longer than the slowest answer, a run-now of 65 s. */
const ABANDONED_MS = 90_000

export type KeptAnswer = { requestHash: Buffer; status: number | null; answer: Buffer | null }

/**
 * Takes an idempotency key for a request. True: it is ours, execute. False: another request has it. What is older than
 * a day, or was begun and never finished, is taken over.
 */
export async function takeIdempotencyKey(db: Db, projectId: string, key: string, requestHash: Buffer, now: Date) {
  const taken = await execute(
    db,
    `INSERT INTO idempotency_keys (project_id, key, request_hash, created_at) VALUES (:projectId, :key, :requestHash, :now)
     ON CONFLICT (project_id, key) DO UPDATE
       SET request_hash = :requestHash, created_at = :now, status = NULL, answer = NULL
       WHERE idempotency_keys.created_at < :expired
          OR (idempotency_keys.status IS NULL AND idempotency_keys.created_at < :abandoned)`,
    {
      projectId,
      key,
      requestHash,
      now,
      expired: new Date(now.getTime() - KEPT_MS),
      abandoned: new Date(now.getTime() - ABANDONED_MS),
    },
  )
  return taken === 1
}

/** What is kept under a key; null when it is gone again. `status` null: the first request is still being worked on. */
export async function readKeptAnswer(db: Db, projectId: string, key: string): Promise<KeptAnswer | null> {
  const [row] = await query<KeptAnswer>(
    db,
    `SELECT request_hash AS "requestHash", status, answer FROM idempotency_keys WHERE project_id = ? AND key = ?`,
    [projectId, key],
  )
  return row ?? null
}

/** Keeps the answer of the request that took the key at `takenAt`, unless somebody took it over meanwhile. */
export async function keepAnswer(
  db: Db,
  projectId: string,
  key: string,
  takenAt: Date,
  status: number,
  answer: Buffer,
) {
  await execute(
    db,
    `UPDATE idempotency_keys SET status = ?, answer = ? WHERE project_id = ? AND key = ? AND created_at = ?`,
    [status, answer, projectId, key, takenAt],
  )
}

/** Gives a key back, so that the request may be sent again. */
export async function releaseIdempotencyKey(db: Db, projectId: string, key: string, takenAt: Date) {
  await execute(db, `DELETE FROM idempotency_keys WHERE project_id = ? AND key = ? AND created_at = ?`, [
    projectId,
    key,
    takenAt,
  ])
}

/** Forgets what is older than a day. */
export const pruneIdempotencyKeys = (db: Db, now: Date) =>
  execute(db, `DELETE FROM idempotency_keys WHERE created_at < ?`, [new Date(now.getTime() - KEPT_MS)])
