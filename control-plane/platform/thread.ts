import { Worker } from 'node:worker_threads'
import { type AskThread, createThread } from '../../shared/thread.ts'

const IDLE_MS = 30_000
const START_MS = 60_000

type Limits = {
  /** for a question, on a machine that is slow and busy */
  longestMs: number
  mostWaiting: number
  memoryMb: number
}

/**
 * A thread whose program is `{name}.ts` next to the file that asks, whose `import.meta.url` is given; `{name}.js` next to
 * the bundled program in `dist`. It takes memory only while there is work for it.
 */
export function askThread<Q, A>(name: string, askedFrom: string, limits: Limits): AskThread<Q, A> {
  const { longestMs, mostWaiting, memoryMb } = limits
  return createThread<Q, A>({
    start: () => startThread(name, askedFrom, memoryMb),
    after(ms, work) {
      const timer = setTimeout(work, ms).unref()
      return () => clearTimeout(timer)
    },
    longest: { ms: longestMs, problem: `it takes more than ${longestMs / 1_000} s` },
    starting: { ms: START_MS, problem: 'this process has no time for it' },
    most: { waiting: mostWaiting, problem: 'too many others wait' },
    idleMs: IDLE_MS,
  })
}

function startThread(name: string, askedFrom: string, memoryMb: number): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb }
  if (!askedFrom.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, askedFrom), { resourceLimits })
  const workerData = new URL(`./${name}.ts`, askedFrom).href
  return new Worker(new URL('./thread-source.mjs', import.meta.url), { resourceLimits, workerData })
}
