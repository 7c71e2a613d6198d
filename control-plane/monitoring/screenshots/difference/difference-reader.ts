import { QuestionError } from '../../../../shared/process/thread.ts'
import { createThreadRunner } from '../../../foundation/platform/concurrency/worker-thread.ts'
import { type ComparisonResult, ImageError, type ScreenshotComparison } from './page-difference.ts'

/** The largest pictures that are accepted take less than a second of processor time. */
const COMPARE_TIMEOUT_MS = 20_000
/** A recorder stores one screenshot after another. */
const MAX_WAITING = 10

/**
 * Returns the share of pixels, 0 to 1, in which two pictures differ, computed in a thread; null without `before`. Throws an
 * ImageError when one of them is not a PNG of a page.
 */
type DifferenceReader = (projectId: string, before: Buffer | null, after: Buffer) => Promise<number | null>

/** Creates a reader with a thread of its own. `timeoutMs`: of one comparison. */
export function createDifferenceReader(timeoutMs = COMPARE_TIMEOUT_MS): DifferenceReader {
  const inThread = createThreadRunner<ScreenshotComparison, ComparisonResult>('difference-worker', import.meta.url, {
    ...{ timeoutMs, maxWaiting: MAX_WAITING, memoryMb: 256 },
    refuse: () => new Error('too many pictures of the project are waiting to be compared'),
  })
  return async (projectId, before, after) => {
    try {
      const compared = await inThread(projectId, { before, after })
      if ('difference' in compared) return compared.difference
      throw new ImageError(compared.problem)
    } catch (error) {
      if (error instanceof QuestionError) throw new ImageError(`the pictures cannot be compared: ${error.message}`)
      throw error
    }
  }
}

export const readDifference = createDifferenceReader()
