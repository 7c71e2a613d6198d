import type { Egress, Signal } from '../../shared/egress/index.ts'
import { TESTS_AT_ONCE } from '../fleet/test-limit.ts'
import { now } from '../platform/clock.ts'
import { askThread } from '../platform/thread.ts'
import type { Answered, Failed } from './document.ts'
import type { Evaluation } from './evaluate.ts'
import { type Examination, type Examined, examine } from './examine.ts'
import { MOST_AT_ONCE } from './fetch.ts'
import { askUrls } from './fetch-reader.ts'
import type { FieldDefinition } from './types.ts'

/** Examined at once: some 12 ms at worst. A larger document can hold the event loop for a second. */
const INLINE_BYTES = 65_536
const threadFor = (mostWaiting: number) =>
  askThread<Examination, Examined>('examine-worker', import.meta.url, {
    ...{ longestMs: 20_000, mostWaiting, memoryMb: 512 },
    refuse: why => new Error(why === 'full' ? 'too many others of the project wait' : 'others take too long'),
  })
/** Apart, so that previews, which people ask for, take no place of sources that are due. Each document may have 5 MiB. */
const THREADS = { preview: threadFor(TESTS_AT_ONCE), source: threadFor(MOST_AT_ONCE) }

type Source = { projectId: string; rootPath: string | null; fields: readonly FieldDefinition[]; timeoutMs: number }

/**
 * What an answer says of a source, after the addresses that it names were asked. While they are, only the bytes are kept;
 * what they hold can be twenty times as large. Never rejects.
 */
export async function examineAnswer(
  egress: Egress,
  { projectId, rootPath, fields, timeoutMs }: Source,
  answer: Answered,
  caller: keyof typeof THREADS,
  signal?: Signal,
): Promise<Failed | { evaluation: Evaluation }> {
  const examination = { answer, rootPath, fields }
  const inThread = (question: Examination) => THREADS[caller](projectId, question)
  const first = await examineSafely({ ...examination, now: now(), answers: null }, inThread)
  if (!('urls' in first)) return first
  const answers = await askUrls(egress, first.urls, timeoutMs, signal)
  return (await examineSafely({ ...examination, now: now(), answers }, inThread)) as Exclude<
    Examined,
    { urls: string[] }
  >
}

async function examineSafely(
  examination: Examination,
  inThread: (question: Examination) => Promise<Examined>,
): Promise<Examined> {
  const { body } = examination.answer
  if (body === null || body.length <= INLINE_BYTES) return examine(examination)
  try {
    return await inThread(examination)
  } catch (error) {
    const message = `Picket could not examine the document: ${(error as Error).message}`
    return { failure: { code: 'not_examined', message, isOurFault: true } }
  }
}
