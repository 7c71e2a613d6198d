import { createProjectThread } from '../../../foundation/web/limits/project-thread.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import type { ConversionRequest, ConversionResult } from './convert-worker.ts'
import type { ConvertedFile } from './foreign-file.ts'
import type { ForeignProduct } from './index.ts'

/** As many as the imports of a project that may wait. */
const MAX_WAITING = 5
const inThread = createProjectThread<ConversionRequest, ConversionResult>('convert-worker', import.meta.url, {
  maxWaiting: MAX_WAITING,
  memoryMb: 512,
  one: 'file',
  many: 'files of other products',
})

/**
 * Converts a file of another product to Picket's format in a worker thread: 9,000 entries take 100 to 200 ms. Throws 400
 * (parseForeignFile), 429 when too many files of the project wait, and 503.
 */
export async function convertForeignFile(
  projectId: string,
  source: ForeignProduct,
  body: unknown,
): Promise<ConvertedFile> {
  const answer = await inThread(projectId, { source, body: JSON.stringify(body ?? null) })
  if ('details' in answer) throw validationError(answer.details)
  return JSON.parse(answer.converted) as ConvertedFile
}
