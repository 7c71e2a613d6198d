import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import type { ImportCounts } from './items.ts'
import type { FilePart } from './reading/file-parts.ts'
import type { ImportSource } from './reading/read-file.ts'
import type { JOB_STATUSES } from './schema.ts'

type JobStatus = (typeof JOB_STATUSES)[number]
const RUNNING = `status IN ('uploading', 'reading', 'planning', 'applying')`

/** A run that has not reported for this time counts as ended. */
export const ABANDONED_AFTER_MS = 60_000

export type JobError = { status: number; code: string; message: string; details?: ErrorDetail[] }

export type StoredJob = {
  id: string
  projectId: string
  status: JobStatus
  source: ImportSource
  isPruning: boolean
  fileName: string | null
  bytes: number
  /** its converted file is stored, so it can be planned and applied */
  hasFile: boolean
  done: number
  total: number
  summary: ImportCounts | null
  error: JobError | null
  /** the run that works on it; null: none */
  runId: string | null
  /** when its run last reported */
  aliveAt: Date
  createdAt: Date
  updatedAt: Date
}

const COLUMNS = `id, project_id AS "projectId", status, source, prune AS "isPruning", file_name AS "fileName",
  bytes::double precision AS bytes, has_file AS "hasFile", done, total, summary, error, run_id AS "runId",
  alive_at AS "aliveAt", created_at AS "createdAt", updated_at AS "updatedAt"`

/** Throws a unique violation of `import_jobs_running` when another job of the project is running. */
export async function insertJob(db: Db, job: StoredJob): Promise<void> {
  await execute(
    db,
    `INSERT INTO import_jobs (id, project_id, status, source, prune, file_name, run_id, alive_at, created_at, updated_at)
     VALUES (:id, :projectId, :status, :source, :isPruning, :fileName, :runId, :aliveAt, :createdAt, :updatedAt)`,
    job,
  )
}

/** `id` has to be a valid id. */
export async function findJob(db: Db, projectId: string, id: string): Promise<StoredJob | null> {
  const sql = `SELECT ${COLUMNS} FROM import_jobs WHERE project_id = ? AND id = ?`
  return (await query<StoredJob>(db, sql, [projectId, id]))[0] ?? null
}

/** The jobs of a project, newest first. */
export async function listJobs(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ jobs: StoredJob[]; total: number }> {
  const [count] = await query<{ total: number }>(
    db,
    'SELECT count(*)::integer AS total FROM import_jobs WHERE project_id = ?',
    [projectId],
  )
  const jobs = await query<StoredJob>(
    db,
    `SELECT ${COLUMNS} FROM import_jobs WHERE project_id = :projectId ORDER BY id DESC LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  return { jobs, total: count!.total }
}

type RunKey = Pick<StoredJob, 'id' | 'runId'>
type JobChange = Partial<Pick<StoredJob, 'status' | 'bytes' | 'hasFile' | 'done' | 'total' | 'summary' | 'error'>>

/** Changes a job that a run works on. Returns false when the run no longer owns it, for example because it counted as ended. */
export async function updateRun(db: Db, { id, runId }: RunKey, change: JobChange, now: Date): Promise<boolean> {
  const { status, bytes, hasFile, done, total, summary, error } = change
  const count = await execute(
    db,
    `UPDATE import_jobs SET status = coalesce(:status, status), bytes = coalesce(:bytes, bytes),
       has_file = coalesce(:hasFile, has_file), done = coalesce(:done, done), total = coalesce(:total, total),
       summary = coalesce(:summary::jsonb, summary), error = :error::jsonb, alive_at = :now, updated_at = :now
     WHERE id = :id AND run_id = :runId AND ${RUNNING}`,
    {
      ...{ id, runId, now },
      status: status ?? null,
      bytes: bytes ?? null,
      hasFile: hasFile ?? null,
      done: done ?? null,
      total: total ?? null,
      summary: summary ? JSON.stringify(summary) : null,
      error: error ? JSON.stringify(error) : null,
    },
  )
  return count === 1
}

/** Begins another run of a job. Returns false when it is running, has no file, or is gone; throws a unique violation as `insertJob`. */
export async function beginRun(db: Db, { id, runId }: RunKey, status: JobStatus, now: Date): Promise<boolean> {
  const sql = `UPDATE import_jobs SET status = :status, run_id = :runId, done = 0, error = NULL, alive_at = :now,
      updated_at = :now
    WHERE id = :id AND has_file AND status IN ('ready', 'failed')`
  return (await execute(db, sql, { id, runId, status, now })) === 1
}

/** Marks the running jobs of a project as failed whose run has not reported since `before`. */
export async function failAbandonedJobs(db: Db, projectId: string, before: Date, error: JobError): Promise<void> {
  await execute(
    db,
    `UPDATE import_jobs SET status = 'failed', run_id = NULL, error = :error::jsonb, updated_at = alive_at
     WHERE project_id = :projectId AND ${RUNNING} AND alive_at < :before`,
    { projectId, before, error: JSON.stringify(error) },
  )
}

/** Deletes all but the newest jobs of a project. */
export async function deleteOlderJobs(db: Db, projectId: string, keep: number): Promise<void> {
  await execute(
    db,
    `DELETE FROM import_jobs WHERE project_id = :projectId AND NOT ${RUNNING} AND id NOT IN
       (SELECT id FROM import_jobs WHERE project_id = :projectId ORDER BY id DESC LIMIT :keep)`,
    { projectId, keep },
  )
}

/** Deletes a job that is not running. */
export async function deleteJob(db: Db, id: string): Promise<boolean> {
  return (await execute(db, `DELETE FROM import_jobs WHERE id = ? AND NOT ${RUNNING}`, [id])) === 1
}

const buildBinding = (projectId: string, jobId: string, position: number) => `${projectId}:import:${jobId}:${position}`

type PartKey = { projectId: string; jobId: string }

/** Stores the parts of a file, encrypted, because files contain secrets. */
export async function insertFileParts(
  tx: Tx,
  secrets: SecretCipher,
  { projectId, jobId }: PartKey,
  parts: readonly FilePart[],
): Promise<void> {
  for (const [position, part] of parts.entries()) {
    const content = secrets.encrypt(part, buildBinding(projectId, jobId, position))
    await execute(
      tx,
      'INSERT INTO import_file_parts (job_id, position, project_id, content) VALUES (:jobId, :position, :projectId, :content)',
      { jobId, position, projectId, content },
    )
  }
}

export async function readFileParts(
  db: Db,
  secrets: SecretCipher,
  { projectId, jobId }: PartKey,
  pause: () => Promise<void>,
): Promise<FilePart[]> {
  const rows = await query<{ position: number; content: Buffer }>(
    db,
    'SELECT position, content FROM import_file_parts WHERE job_id = ? ORDER BY position',
    [jobId],
  )
  const parts: FilePart[] = []
  for (const { position, content } of rows) {
    parts.push(secrets.decrypt(content, buildBinding(projectId, jobId, position)))
    await pause()
  }
  return parts
}

export const deleteFileParts = (db: Db, jobId: string): Promise<number> =>
  execute(db, 'DELETE FROM import_file_parts WHERE job_id = ?', [jobId])

/** For key rotation. */
export const ENCRYPTED_IMPORT_COLUMNS: EncryptedColumn[] = [
  {
    table: 'import_file_parts',
    column: 'content',
    key: ['job_id', 'position'],
    needs: ['project_id'],
    getBinding: row => buildBinding(row.project_id!, row.job_id!, Number(row.position)),
  },
]
