import { Worker } from 'node:worker_threads'
import { createFairLimiter, type LimiterRefusal } from '../../../../shared/process/fair-limiter.ts'
import { createWorkerThread } from '../../../../shared/process/thread.ts'

const IDLE_TIMEOUT_MS = 30_000
const START_TIMEOUT_MS = 60_000
/** How long a question waits for its turn, by default. */
export const THREAD_WAIT_TIMEOUT_MS = 60_000

type ThreadLimits = {
  /** for a question, on a slow and busy machine */
  timeoutMs: number
  /** for the turn of a question */
  waitTimeoutMs?: number
  /** for the start of the thread, by default a minute */
  startTimeoutMs?: number
  /** questions of one key */
  maxWaiting: number
  memoryMb: number
  /** the error for a question that may not wait, or has waited too long */
  refuse: (why: LimiterRefusal) => Error
}

/** Sends a question to a thread when it is the turn of its key. Throws when it gets no turn or takes too long. */
export type ThreadRunner<Q, A> = (key: string, question: Q) => Promise<A>

/**
 * A thread whose program is `{name}.ts` next to the calling file (`askedFrom` is its `import.meta.url`), or `{name}.js` next
 * to the bundled program in `dist`. It exists only while there is work for it. Keys take turns.
 */
export function createThreadRunner<Q, A>(name: string, askedFrom: string, limits: ThreadLimits): ThreadRunner<Q, A> {
  const { timeoutMs, waitTimeoutMs = THREAD_WAIT_TIMEOUT_MS, startTimeoutMs = START_TIMEOUT_MS } = limits
  const { maxWaiting, memoryMb, refuse } = limits
  const turns = createFairLimiter({
    ...{
      maxConcurrent: 1,
      maxConcurrentPerKey: 1,
      maxWaitingPerKey: maxWaiting,
      waitTimeoutMs,
      refuse,
    },
  })
  const ask = createWorkerThread<Q, A>({
    start: () => startThread(name, askedFrom, memoryMb),
    after(ms, work) {
      const timer = setTimeout(work, ms).unref()
      return () => clearTimeout(timer)
    },
    answerTimeout: { ms: timeoutMs, problem: `it takes more than ${timeoutMs / 1_000} s` },
    startTimeout: { ms: startTimeoutMs, problem: 'the worker thread did not start in time' },
    queueLimit: { waiting: 1, problem: 'another question is being processed' },
    idleMs: IDLE_TIMEOUT_MS,
  })
  return (key, question) => turns.run(key, () => ask(question))
}

function startThread(name: string, askedFrom: string, memoryMb: number): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb }
  if (!askedFrom.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, askedFrom), { resourceLimits })
  const workerData = new URL(`./${name}.ts`, askedFrom).href
  return new Worker(new URL('./thread-source.mjs', import.meta.url), { resourceLimits, workerData })
}
