import { Worker } from 'node:worker_threads'
import { type AssertionEvaluation, estimateWork, evaluate } from '../../shared/assertions/evaluate.ts'
import type { Assertion } from '../../shared/checks/check.ts'
import type { Observation } from '../../shared/checks/result.ts'
import { createWorkerThread } from '../../shared/process/thread.ts'
import { machine } from '../clock.ts'

/** What the thread is asked. Times in ms since 1970. */
export type AssertionJob = { assertions: Assertion[]; observation: Observation; nowMs: number }

/** Judged where we stand: some 8 ms at worst, as `workOf` counts. A whole page, or a regular expression on it, is more. */
const MAX_INLINE_WORK = 200_000
const MEMORY_MB = 128

/** The thread's program, in the single executable only (tools/probe-executable), which has no files beside it. */
declare const ASSERTION_THREAD: string | undefined

const ask = createWorkerThread<AssertionJob, AssertionEvaluation>({
  start: startThread,
  after: machine.after,
  // a customer's expression that takes longer than this on a customer's page is given up
  answerTimeout: { ms: 2_000, problem: 'the expression takes too long on this page' },
  startTimeout: { ms: 30_000, problem: 'the probe has no time to look through large pages' },
  queueLimit: { waiting: 500, problem: 'the probe has too many large pages to look through' },
})

/**
 * Assertions on what was seen, as `evaluate` judges them. Much work goes to a thread of its own, one question after the
 * other, so that no page and no expression holds up other checks.
 * @throws Error when an assertion is none, the thread has too much to do, or the work takes more than two seconds
 */
export function evaluateAssertions(
  assertions: Assertion[],
  observation: Observation,
  nowMs: number,
): AssertionEvaluation | Promise<AssertionEvaluation> {
  if (estimateWork(assertions, observation) <= MAX_INLINE_WORK) return evaluate(assertions, observation, nowMs)
  return ask({ assertions, observation: toTransferable(observation), nowMs })
}

/** A certificate does not travel to a thread; its date is all that assertions look at. */
function toTransferable(observation: Observation): Observation {
  const { certificate } = observation
  const seen = certificate && { validTo: certificate.validTo }
  return { ...observation, certificate: seen as Observation['certificate'] }
}

function startThread(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB }
  const file = import.meta.url.endsWith('.ts') ? './assertion-thread-source.mjs' : './assertion-thread.js'
  return typeof ASSERTION_THREAD === 'string'
    ? new Worker(ASSERTION_THREAD, { eval: true, resourceLimits })
    : new Worker(new URL(file, import.meta.url), { resourceLimits })
}
