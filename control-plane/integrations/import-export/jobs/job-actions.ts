import type { Readable } from 'node:stream'
import { createFairLimiter } from '../../../../shared/process/fair-limiter.ts'
import type { Log } from '../../../../shared/process/log.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, monotonicMs, now, nowMs, sleep } from '../../../foundation/platform/time/clock.ts'
import type { ApiCaller } from '../../../foundation/web/auth/authentication.ts'
import { ApiError, conflict, found, toErrorBody, tooBusy, unavailable } from '../../../foundation/web/server/errors.ts'
import { createOwnFaultFinder } from '../../../foundation/web/validation/schema-compiler.ts'
import type { ConvertedFile } from '../converters/foreign-file.ts'
import { type ImportOptions, runImport } from '../import/import-actions.ts'
import { type ImportReport, isLeftOutRecord } from '../import/import-report.ts'
import type { ImportTools } from '../import/import-run.ts'
import { listUnplannedDeletions, replaceItems } from './item-store.ts'
import { buildItems, type ImportItem, summarize } from './items.ts'
import {
  ABANDONED_AFTER_MS,
  beginRun,
  deleteFileParts,
  deleteJob,
  deleteOlderJobs,
  failAbandonedJobs,
  findJob,
  insertFileParts,
  insertJob,
  type JobError,
  readFileParts,
  type StoredJob,
  updateRun,
} from './job-store.ts'
import { countEntries, joinFile } from './reading/file-parts.ts'
import { readUploadedFile } from './reading/file-reader.ts'
import type { ImportSource } from './reading/read-file.ts'
import { createDiskBudget, type DiskBudget, storeUpload, type Upload } from './upload-store.ts'

const HEARTBEAT_MS = 5_000
const PROGRESS_MS = 500
/** Finished jobs that are kept, for each project. */
const KEPT_JOBS = 10
/** Files of a process that are being uploaded or read, one of each project, and what they take on its disk. */
const MAX_FILES = 32
const MAX_DISK_BYTES = 1024 * 1024 * 1024
/** Imports of a process that plan or apply at the same time, one of each project. */
const MAX_RUNNING = 2
const TURN_TIMEOUT_MS = 15 * 60_000

export type JobTools = Omit<ImportTools, 'findFaults'>
/** Who starts a run. `actorDb`: writes the audit log in their name. */
export type ImportActor = { caller: ApiCaller; actorDb: Db; log: Pick<Log, 'error'> }
type UploadRequest = {
  body: Readable
  declaredBytes: number | null
  source: ImportSource
  isPruning: boolean
  isDryRun: boolean
  fileName: string | null
}

type ImportJobs = {
  /** Stores an upload and begins to read it. Throws 400, 409 when another import of the project is running, 413 and 503. */
  start(starter: ImportActor, upload: UploadRequest): Promise<StoredJob>
  /**
   * Begins to apply the stored file. Throws 404; 409 when an import of the project is running, or the job has no file. The job
   * fails when it would delete records that its plan did not list.
   */
  apply(starter: ImportActor, id: string): Promise<StoredJob>
}

export const ABANDONED_ERROR: JobError = {
  ...{ status: 503, code: 'unavailable' },
  message: 'the process that worked on this import has ended; nothing was changed',
}

/** The imports that run in this process (docs/design/import-jobs.md). */
export function createImportJobs(tools: JobTools): ImportJobs {
  let files = 0
  const budget = createDiskBudget(MAX_DISK_BYTES)
  const turns = createFairLimiter({
    ...{ maxConcurrent: MAX_RUNNING, maxConcurrentPerKey: 1, maxWaitingPerKey: 1, waitTimeoutMs: TURN_TIMEOUT_MS },
    refuse: () => tooBusy('other imports take too long'),
  })
  let findFaults: ImportTools['findFaults'] | null = null
  // the file is loaded in its turn, so that waiting imports take no memory
  const runInTurn = (starter: ImportActor, job: StoredJob, kind: RunKind) =>
    turns.run(job.projectId, async () => {
      findFaults ??= createOwnFaultFinder()
      await runJob({ ...tools, findFaults }, starter, job, kind, await loadFile(tools, job))
    })

  return {
    async start(starter, { body, declaredBytes, source, isPruning, isDryRun, fileName }) {
      if (files >= MAX_FILES) throw tooBusy(`${MAX_FILES} other files are being uploaded or read`)
      files++
      const job = newJob(starter.caller.projectId, { source, isPruning, fileName })
      let isHandedOn = false
      try {
        await addJob(tools.db, job)
        const upload = await receiveUpload(tools.db, job, { body, declaredBytes, budget })
        isHandedOn = true
        void superviseRun(tools.db, starter, job, async () => {
          await readAndStore(tools, job, upload.fd).finally(async () => {
            files--
            await upload.close()
          })
          await runInTurn(starter, job, isDryRun ? 'plan' : 'apply')
        })
        return { ...job, status: 'reading', bytes: upload.bytes, aliveAt: now(), updatedAt: now() }
      } finally {
        if (!isHandedOn) files--
      }
    },

    async apply(starter, id) {
      const { projectId } = starter.caller
      await failAbandoned(tools.db, projectId)
      const stored = found(await findJob(tools.db, projectId, id), 'import')
      const job: StoredJob = { ...stored, status: 'applying', runId: newId(), error: null, done: 0 }
      const at = now()
      if (!stored.hasFile || !(await claim(() => beginRun(tools.db, job, 'applying', at))))
        throw conflict(explainRefusal(stored))
      void superviseRun(tools.db, starter, job, () => runInTurn(starter, job, 'apply plan'))
      return { ...job, aliveAt: at, updatedAt: at }
    },
  }
}

function explainRefusal({ status, hasFile }: StoredJob): string {
  if (status === 'applied') return 'this import is already applied; upload the file again to import it again'
  if (hasFile) return 'this import is already running'
  return 'this import has no plan to apply; wait until it is planned, or upload the file again'
}

/** Deletes an import of the project. Throws 409 while it is running. */
export async function removeImport(db: Db, { projectId, id }: Pick<StoredJob, 'projectId' | 'id'>): Promise<void> {
  await failAbandoned(db, projectId)
  if (!(await deleteJob(db, id))) throw conflict('the import is running; delete it when it has ended')
}

const failAbandoned = (db: Db, projectId: string): Promise<void> =>
  failAbandonedJobs(db, projectId, new Date(nowMs() - ABANDONED_AFTER_MS), ABANDONED_ERROR)

const newJob = (projectId: string, of: Pick<StoredJob, 'source' | 'isPruning' | 'fileName'>): StoredJob => {
  const at = now()
  return {
    ...{ id: newId(), projectId, status: 'uploading', ...of, bytes: 0, hasFile: false, done: 0, total: 0 },
    ...{ summary: null, error: null, runId: newId(), aliveAt: at, createdAt: at, updatedAt: at },
  }
}

async function addJob(db: Db, job: StoredJob): Promise<void> {
  await failAbandoned(db, job.projectId)
  await claim(() => insertJob(db, job))
  await deleteOlderJobs(db, job.projectId, KEPT_JOBS)
}

/** Throws 409 when another job of the project is running. */
async function claim<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error, 'import_jobs_running')) throw error
    throw conflict('another import of this project is running; wait until it has ended')
  }
}

/** Stores the body as a file. When this fails, the job fails, and the rest of the body is read, so that the client gets the error. */
async function receiveUpload(
  db: Db,
  job: StoredJob,
  { body, declaredBytes, budget }: Pick<UploadRequest, 'body' | 'declaredBytes'> & { budget: DiskBudget },
): Promise<Upload> {
  const end = reportAlive(db, job)
  try {
    const upload = await storeUpload(body, declaredBytes, budget, createProgress(db, job))
    await changeOwnRun(db, job, { status: 'reading', bytes: upload.bytes }).catch(async error => {
      await upload.close()
      throw error
    })
    return upload
  } catch (error) {
    body.resume()
    await updateRun(db, job, { status: 'failed', error: toJobError(error) }, now()).catch(() => {})
    throw error
  } finally {
    end()
  }
}

/** Changes the job. Throws 503 when the run no longer owns it. */
async function changeOwnRun(db: Db, job: StoredJob, change: Parameters<typeof updateRun>[2]): Promise<void> {
  if (await updateRun(db, job, change, now())) return
  throw unavailable('the import was ended because it did not report for a minute; nothing was changed')
}

/** Reads the file in a thread, and stores its converted entries, so that every process can apply them. */
async function readAndStore(tools: JobTools, job: StoredJob, fd: number): Promise<void> {
  const { id: jobId, projectId } = job
  const parts = await readUploadedFile(projectId, job.source, fd)
  await tools.db.transaction(async tx => {
    await insertFileParts(tx, tools.secrets, { projectId, jobId }, parts)
    await changeOwnRun(tx, job, { status: 'planning', hasFile: true })
  })
}

async function loadFile({ db, secrets }: JobTools, { id: jobId, projectId }: StoredJob): Promise<ConvertedFile> {
  const pause = createYieldPoint()
  return await joinFile(await readFileParts(db, secrets, { projectId, jobId }, pause), pause)
}

/** `apply plan`: deletes only what the stored plan lists. */
type RunKind = 'plan' | 'apply' | 'apply plan'

/** Plans or applies a file, and stores the result. The status changes in the transaction of an apply. */
async function runJob(
  tools: ImportTools,
  { caller, actorDb }: ImportActor,
  job: StoredJob,
  kind: RunKind,
  { file, warnings }: ConvertedFile,
): Promise<void> {
  const isDryRun = kind === 'plan'
  const total = countEntries(file) * 2
  await changeOwnRun(tools.db, job, { status: isDryRun ? 'planning' : 'applying', total })
  const onStep = createProgress(tools.db, job, steps => ({ done: Math.min(steps, total) }))
  const store = async (db: Db, report: ImportReport, status: 'ready' | 'applied') => {
    const items = buildItems(report, warnings)
    if (kind === 'apply plan') await assertDeletionsPlanned(db, job.id, items)
    await replaceItems(db, job.id, items, createYieldPoint())
    if (status === 'applied') await deleteFileParts(db, job.id)
    const summary = summarize(items, report.extra)
    await changeOwnRun(db, job, { status, summary, done: total, hasFile: status === 'ready' })
  }
  const options: ImportOptions = {
    ...{ isDryRun, isPruning: job.isPruning, isLenient: job.source !== 'picket' },
    isPartial: warnings.some(isLeftOutRecord),
    isStopped(report) {
      onStep(report.steps)
      return false
    },
    ...(!isDryRun && { onEnd: (tx, report) => store(tx, report, 'applied') }),
  }
  const report = await runImport({ ...tools, db: actorDb }, caller, file, options, now())
  if (isDryRun) await tools.db.transaction(tx => store(tx, report, 'ready'))
}

/** Throws 409, which undoes the import. */
async function assertDeletionsPlanned(db: Db, jobId: string, items: readonly ImportItem[]): Promise<void> {
  const [first, ...others] = await listUnplannedDeletions(db, jobId, items)
  if (!first) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  throw conflict(
    `the plan does not list the deletion of ${first.key}${more}; nothing was changed. Upload the file again for a new plan`,
  )
}

/** Reports progress at most twice a second. A report that cannot be stored is lost. */
function createProgress(
  db: Db,
  job: StoredJob,
  toChange: (value: number) => { bytes?: number; done?: number } = bytes => ({ bytes }),
): (value: number) => void {
  let reportedMs = monotonicMs()
  return value => {
    if (monotonicMs() - reportedMs < PROGRESS_MS) return
    reportedMs = monotonicMs()
    updateRun(db, job, toChange(value), now()).catch(() => {})
  }
}

/** Reports at intervals that a run is alive, until the returned function is called. */
function reportAlive(db: Db, job: StoredJob): () => void {
  const ended = new AbortController()
  const report = async () => {
    for (;;) {
      await sleep(HEARTBEAT_MS, ended.signal)
      if (ended.signal.aborted) return
      await updateRun(db, job, {}, now()).catch(() => {})
    }
  }
  void report()
  return () => ended.abort()
}

/** Runs work in the background, reports that it is alive, and stores its error. */
async function superviseRun(db: Db, { log }: ImportActor, job: StoredJob, work: () => Promise<void>): Promise<void> {
  const end = reportAlive(db, job)
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ApiError)) log.error({ err: error, import_id: job.id }, 'an import failed')
    await updateRun(db, job, { status: 'failed', error: toJobError(error) }, now()).catch(() => {})
  } finally {
    end()
  }
}

const toJobError = (error: unknown): JobError =>
  error instanceof ApiError
    ? toErrorBody(error).error
    : { status: 503, code: 'unavailable', message: 'an error of the server ended the import; nothing was changed' }
