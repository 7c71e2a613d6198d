import { validationError } from '../../web/errors.ts'
import { projectThread } from '../../web/project-thread.ts'
import type { ConversionAnswer, ConversionQuestion } from './convert-worker.ts'
import type { Foreign } from './index.ts'
import type { Converted } from './source.ts'

/** As many as may wait to be imported. */
const MOST_WAITING = 5
const inThread = projectThread<ConversionQuestion, ConversionAnswer>('convert-worker', import.meta.url, {
  mostWaiting: MOST_WAITING,
  memoryMb: 512,
  one: 'file',
  many: 'files of other products',
})

/**
 * A file of another product in Picket's form, made in a thread: 9,000 entries take 100 to 200 ms. Throws 400 (readSource),
 * 429 where too many of the project wait, and 503.
 */
export async function convertSource(projectId: string, source: Foreign, body: unknown): Promise<Converted> {
  const answer = await inThread(projectId, { source, body: JSON.stringify(body ?? null) })
  if ('details' in answer) throw validationError(answer.details)
  return JSON.parse(answer.converted) as Converted
}
