import { createThreadRunner, type ThreadRunner } from '../../platform/concurrency/worker-thread.ts'
import { ApiError, rateLimited, tooBusy } from '../server/errors.ts'

const ANSWER_TIMEOUT_MS = 20_000
const RETRY_AFTER_S = 5

type ProjectThreadOptions = {
  /** for each project */
  maxWaiting: number
  memoryMb: number
  /** for a question; default: 20 s */
  timeoutMs?: number
  /** for its turn; default: a minute */
  waitTimeoutMs?: number
  /** for the start of the thread; default: a minute */
  startTimeoutMs?: number
  /** the noun for messages, singular and plural */
  one: string
  many: string
}

/**
 * A worker thread that requests of all projects share in turns. A question throws 429 when too many of its project wait,
 * and 503 when it waits or takes too long.
 */
export function createProjectThread<Q, A>(
  name: string,
  askedFrom: string,
  options: ProjectThreadOptions,
): ThreadRunner<Q, A> {
  const { maxWaiting, memoryMb, timeoutMs = ANSWER_TIMEOUT_MS, waitTimeoutMs, startTimeoutMs, one, many } = options
  const full = `${maxWaiting} ${many} of this project are already waiting; they are processed one at a time`
  const ask = createThreadRunner<Q, A>(name, askedFrom, {
    ...{ timeoutMs, waitTimeoutMs, startTimeoutMs, maxWaiting, memoryMb },
    refuse: why => (why === 'late' ? tooBusy(`other ${many} take too long`) : rateLimited(full, RETRY_AFTER_S)),
  })
  return async (projectId, question) => {
    try {
      return await ask(projectId, question)
    } catch (error) {
      if (error instanceof ApiError) throw error
      throw tooBusy(`the ${one} could not be read: ${(error as Error).message}`)
    }
  }
}
