import { createProjectThread } from '../../../../foundation/web/limits/project-thread.ts'
import { validationError } from '../../../../foundation/web/server/errors.ts'
import type { FilePart } from './file-parts.ts'
import type { ReadAnswer, ReadQuestion } from './import-worker.ts'
import type { ImportSource } from './read-file.ts'

/** Heap of the thread. The bytes of the file are outside of it. */
const MEMORY_MB = 768
const READ_TIMEOUT_MS = 120_000
/** From sources, on a busy machine. A job can wait, and without its file it would have to be uploaded again. */
const START_TIMEOUT_MS = 5 * 60_000
/** A file that was uploaded is not refused because a few others are read before it. */
const TURN_TIMEOUT_MS = 15 * 60_000

const inThread = createProjectThread<ReadQuestion, ReadAnswer>('import-worker', import.meta.url, {
  maxWaiting: 1,
  memoryMb: MEMORY_MB,
  timeoutMs: READ_TIMEOUT_MS,
  waitTimeoutMs: TURN_TIMEOUT_MS,
  startTimeoutMs: START_TIMEOUT_MS,
  one: 'file',
  many: 'uploaded files',
})

/**
 * Reads an uploaded file in a worker thread, one file of a process at a time. Throws 400 with the faults of the file, and 503
 * when it takes more than two minutes or 768 MiB of memory.
 */
export async function readUploadedFile(projectId: string, source: ImportSource, fd: number): Promise<FilePart[]> {
  const answer = await inThread(projectId, { source, fd })
  if ('details' in answer) throw validationError(answer.details)
  return answer.parts
}
