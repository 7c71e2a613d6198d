import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { compareScreenshots, type ScreenshotComparison } from './page-difference.ts'

/** The thread that compares pictures of pages. A Buffer arrives as a plain Uint8Array. */
answerQuestions(parentPort, ({ before, after }: ScreenshotComparison) =>
  compareScreenshots({ before: before && Buffer.from(before), after: Buffer.from(after) }),
)
