import type { DeadlineSignal } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { QuestionError } from '../../../../shared/process/thread.ts'
import { createThreadRunner } from '../../../foundation/platform/concurrency/worker-thread.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { MAX_CONCURRENT_TESTS } from '../../../foundation/web/test-limit.ts'
import { type FailedFetch, type RawDocument, TOO_COSTLY } from '../document/document.ts'
import { MAX_CONCURRENT_FETCHES } from '../fetching/fetch-result.ts'
import { checkUrls, confirmSilence } from '../fetching/http-reader.ts'
import type { FieldDefinition } from '../types.ts'
import { type ChildKey, formatChildKey } from './evaluate.ts'
import {
  type DocumentExamination,
  type Examination,
  type ExaminationResult,
  examine,
  isQuicklyExamined,
} from './examine.ts'

const createExamineThread = (maxWaiting: number) =>
  createThreadRunner<Examination, ExaminationResult>('examine-worker', import.meta.url, {
    ...{ timeoutMs: 20_000, maxWaiting, memoryMb: 512 },
    refuse: why =>
      new Error(why === 'full' ? 'too many documents of the project are waiting' : 'other documents take too long'),
  })
/** Separate threads, so that previews do not delay sources that are due. A document may have 5 MiB. */
const THREADS = {
  preview: createExamineThread(MAX_CONCURRENT_TESTS),
  source: createExamineThread(MAX_CONCURRENT_FETCHES),
}

type Source = {
  projectId: string
  url: string
  rootPath: string | null
  fields: readonly FieldDefinition[]
  timeoutMs: number
}

/**
 * Evaluates a response, after requesting the URLs that it contains. Meanwhile only the bytes are kept, because the
 * parsed document can be twenty times as large. Called when the response has arrived: this time is the `now` of rules.
 * A preview also returns the document. `readKnown` reads the children that the source has, for a document with too many
 * keys. Rejects only when that fails.
 */
export async function evaluateRawDocument(
  egress: Egress,
  { projectId, url, rootPath, fields, timeoutMs }: Source,
  answer: RawDocument,
  caller: keyof typeof THREADS,
  { readKnown = async () => [], signal }: { readKnown?: () => Promise<ChildKey[]>; signal?: DeadlineSignal } = {},
): Promise<FailedFetch | DocumentExamination> {
  const needed: Pick<Examination, 'known' | 'answers'> = { known: null, answers: null }
  // the URLs may take 21 s, which must not count as the age of a value
  const arrivedAt = now()
  for (;;) {
    const examination = { ...needed, answer, rootPath, fields, now: arrivedAt, isShown: caller === 'preview' }
    const result = await examineSafely(examination, task => THREADS[caller](projectId, task))
    if ('needsKnown' in result) needed.known = new Set((await readKnown()).map(formatChildKey))
    else if ('urls' in result) {
      const answers = await checkUrls(egress, result.urls, { timeoutMs }, signal)
      const failed = await confirmSilence(egress, url, answers, signal)
      if (failed) return failed
      needed.answers = answers
    } else return result
  }
}

async function examineSafely(
  examination: Examination,
  inThread: (task: Examination) => Promise<ExaminationResult>,
): Promise<ExaminationResult> {
  if (isQuicklyExamined(examination)) return examine(examination)
  try {
    return await inThread(examination)
  } catch (error) {
    return buildUnexamined(error as Error)
  }
}

/** Why a document was not examined: it needs too much time or memory, it had no turn, or Picket has an error. */
export function buildUnexamined(error: Error): FailedFetch {
  const code = error instanceof QuestionError ? TOO_COSTLY : 'not_examined'
  return { failure: { code, message: `Picket could not examine the document: ${error.message}`, isOurFault: true } }
}
