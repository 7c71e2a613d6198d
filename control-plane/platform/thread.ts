import { Worker } from 'node:worker_threads'
import { createThread } from '../../shared/thread.ts'
import { createTurns, type Refusal } from './turns.ts'

const IDLE_MS = 30_000
const START_MS = 60_000
/** For a turn */
export const TURN_PATIENCE_MS = 60_000

type Limits = {
  /** for a question, on a machine that is slow and busy */
  longestMs: number
  /** of one key */
  mostWaiting: number
  memoryMb: number
  /** the error of a question that may not wait, or has waited too long */
  refuse: (why: Refusal) => Error
}

/** Puts a question to a thread when it is the turn of its key. @throws Error when it has no turn, or takes too long */
export type AskInTurn<Q, A> = (key: string, question: Q) => Promise<A>

/**
 * A thread whose program is `{name}.ts` next to the file that asks, whose `import.meta.url` is given; `{name}.js` next to
 * the bundled program in `dist`. It takes memory only while there is work for it. Keys have it by turns.
 */
export function askThread<Q, A>(name: string, askedFrom: string, limits: Limits): AskInTurn<Q, A> {
  const { longestMs, mostWaiting, memoryMb, refuse } = limits
  const turns = createTurns({
    ...{ atOnce: 1, atOnceEach: 1, mostWaitingEach: mostWaiting, patienceMs: TURN_PATIENCE_MS, refuse },
  })
  const ask = createThread<Q, A>({
    start: () => startThread(name, askedFrom, memoryMb),
    after(ms, work) {
      const timer = setTimeout(work, ms).unref()
      return () => clearTimeout(timer)
    },
    longest: { ms: longestMs, problem: `it takes more than ${longestMs / 1_000} s` },
    starting: { ms: START_MS, problem: 'this process has no time for it' },
    most: { waiting: 1, problem: 'another question is asked' },
    idleMs: IDLE_MS,
  })
  return (key, question) => turns.run(key, () => ask(question))
}

function startThread(name: string, askedFrom: string, memoryMb: number): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb }
  if (!askedFrom.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, askedFrom), { resourceLimits })
  const workerData = new URL(`./${name}.ts`, askedFrom).href
  return new Worker(new URL('./thread-source.mjs', import.meta.url), { resourceLimits, workerData })
}
