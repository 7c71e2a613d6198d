import { Worker } from 'node:worker_threads'
import { evaluate, type Judgement, workOf } from '../shared/assertions/evaluate.ts'
import type { Assertion } from '../shared/check.ts'
import type { Observation } from '../shared/result.ts'
import { createThread } from '../shared/thread.ts'
import { machine } from './clock.ts'

/** What the thread is asked. Times in ms since 1970. */
export type Question = { assertions: Assertion[]; observation: Observation; nowMs: number }

/** Judged where we stand: some 8 ms at worst, as `workOf` counts. A whole page, or a regular expression on it, is more. */
const INLINE_WORK = 200_000
const MEMORY_MB = 128

/** The thread's program, in the single executable only (deploy/probe), which has no files beside it. */
declare const JUDGING_THREAD: string | undefined

const ask = createThread<Question, Judgement>({
  start: startThread,
  after: machine.after,
  // a customer's expression that takes longer than this on a customer's page is given up
  longest: { ms: 2_000, problem: 'the expression takes too long on this page' },
  starting: { ms: 30_000, problem: 'the probe has no time to look through large pages' },
  most: { waiting: 500, problem: 'the probe has too many large pages to look through' },
})

/**
 * Assertions on what was seen, as `evaluate` judges them. Much work goes to a thread of its own, one question after the
 * other, so that no page and no expression holds up other checks.
 * @throws Error when an assertion is none, the thread has too much to do, or the work takes more than two seconds
 */
export function judge(
  assertions: Assertion[],
  observation: Observation,
  nowMs: number,
): Judgement | Promise<Judgement> {
  if (workOf(assertions, observation) <= INLINE_WORK) return evaluate(assertions, observation, nowMs)
  return ask({ assertions, observation: plain(observation), nowMs })
}

/** A certificate does not travel to a thread; its date is all that assertions look at. */
function plain(observation: Observation): Observation {
  const { certificate } = observation
  const seen = certificate && { validTo: certificate.validTo }
  return { ...observation, certificate: seen as Observation['certificate'] }
}

function startThread(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB }
  const file = import.meta.url.endsWith('.ts') ? './judging-thread-source.mjs' : './judging-thread.js'
  return typeof JUDGING_THREAD === 'string'
    ? new Worker(JUDGING_THREAD, { eval: true, resourceLimits })
    : new Worker(new URL(file, import.meta.url), { resourceLimits })
}
