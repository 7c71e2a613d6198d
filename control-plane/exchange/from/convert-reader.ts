import { askThread } from '../../platform/thread.ts'
import { tooBusy, validationError } from '../../web/errors.ts'
import type { ConversionAnswer, ConversionQuestion } from './convert-worker.ts'
import type { Foreign } from './index.ts'
import type { Converted } from './source.ts'

const inThread = askThread<ConversionQuestion, ConversionAnswer>('convert-worker', import.meta.url, {
  longestMs: 20_000,
  mostWaiting: 20,
  memoryMb: 512,
})

/**
 * A file of another product in Picket's form, made in a thread: 9,000 entries take 100 to 200 ms. Throws 400 (readSource),
 * and 503 where too many are converted.
 */
export async function convertSource(source: Foreign, body: unknown): Promise<Converted> {
  const answer = await askSafely({ source, body: JSON.stringify(body ?? null) })
  if ('details' in answer) throw validationError(answer.details)
  return JSON.parse(answer.converted) as Converted
}

async function askSafely(question: ConversionQuestion): Promise<ConversionAnswer> {
  try {
    return await inThread(question)
  } catch (error) {
    throw tooBusy(`the file could not be converted: ${(error as Error).message}`)
  }
}
