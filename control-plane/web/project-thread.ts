import { type AskInTurn, askThread } from '../platform/thread.ts'
import { ApiError, rateLimited, tooBusy } from './errors.ts'

const LONGEST_MS = 20_000
const RETRY_AFTER_S = 5

type Options = {
  /** of a project */
  mostWaiting: number
  memoryMb: number
  /** what the thread reads, one and many, as messages name it */
  one: string
  many: string
}

/**
 * A thread that requests of projects share, by turns (platform/thread). A question throws 429 where too many of its
 * project wait, and 503 where others or the question itself take too long.
 */
export function projectThread<Q, A>(name: string, askedFrom: string, options: Options): AskInTurn<Q, A> {
  const { mostWaiting, memoryMb, one, many } = options
  const full = `${mostWaiting} ${many} of this project wait already: they are read one after the other`
  const ask = askThread<Q, A>(name, askedFrom, {
    ...{ longestMs: LONGEST_MS, mostWaiting, memoryMb },
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
