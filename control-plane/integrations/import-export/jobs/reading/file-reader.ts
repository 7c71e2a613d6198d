import { createProjectThread } from '../../../../foundation/web/limits/project-thread.ts'
import { validationError } from '../../../../foundation/web/server/errors.ts'
import type { FilePart } from './file-parts.ts'
import type { ReadAnswer, ReadQuestion } from './import-worker.ts'
import type { ImportSource } from './read-file.ts'

/** `memoryMb`: heap of the thread. The bytes of the file are outside of it. */
type ReadLimits = { memoryMb: number; timeoutMs: number }
const LIMITS: ReadLimits = { memoryMb: 768, timeoutMs: 120_000 }
/** From sources, on a busy machine. A job can wait, and without its file it would have to be uploaded again. */
const START_TIMEOUT_MS = 5 * 60_000
/** A file that was uploaded is not refused because a few others are read before it. */
const TURN_TIMEOUT_MS = 15 * 60_000

type ReadUploadedFile = (projectId: string, source: ImportSource, fd: number) => Promise<FilePart[]>

/**
 * Creates a function that reads an uploaded file in a worker thread, one file at a time. It throws 400 with the faults of the file,
 * and 503 when reading takes more time or memory than the limits.
 */
export function createFileReader(limits: ReadLimits): ReadUploadedFile {
  const inThread = createProjectThread<ReadQuestion, ReadAnswer>('import-worker', import.meta.url, {
    ...limits,
    maxWaiting: 1,
    waitTimeoutMs: TURN_TIMEOUT_MS,
    startTimeoutMs: START_TIMEOUT_MS,
    one: 'file',
    many: 'uploaded files',
  })
  return async (projectId, source, fd) => {
    const answer = await inThread(projectId, { source, fd })
    if ('details' in answer) throw validationError(answer.details)
    return answer.parts
  }
}

/** The reader of a process. */
export const readUploadedFile = createFileReader(LIMITS)
