import { Worker } from 'node:worker_threads'
import { type AssertionEvaluation, estimateWork, evaluate } from '../../shared/assertions/evaluate.ts'
import type { Assertion } from '../../shared/checks/check.ts'
import type { Observation } from '../../shared/checks/result.ts'
import { createFairLimiter } from '../../shared/process/fair-limiter.ts'
import { createWorkerThread } from '../../shared/process/thread.ts'
import type { Machine } from '../clock.ts'

/** A job of the thread. Times in ms since 1970. */
export type AssertionJob = { assertions: Assertion[]; observation: Observation; nowMs: number }

/** Work (see `estimateWork`) that is done on the event loop: at most about 8 ms. A large page needs more. */
const MAX_INLINE_WORK = 200_000
const MEMORY_MB = 128
/** Of one tenant. */
const MAX_WAITING = 100
/** A check that has waited this long is past its deadline in any case. */
const MAX_WAIT_MS = 60_000

/** The thread's program. Defined only in the single executable (tools/probe-executable), which has no other files. */
declare const ASSERTION_THREAD: string | undefined

/**
 * Creates a function that evaluates assertions with `evaluate`. Large work is done in one worker thread, one job at a time,
 * so that it does not block the event loop. Tenants take turns (0: unknown). `after` starts a timer.
 * @throws Error when an assertion is invalid, the queue of the tenant is full, or the job takes longer than two seconds
 */
export function createAssertionEvaluator(after: Machine['after']) {
  const ask = createWorkerThread<AssertionJob, AssertionEvaluation>({
    start: startThread,
    after,
    // a regular expression that takes longer than this is cancelled
    answerTimeout: { ms: 2_000, problem: 'the assertion takes longer than 2 s on this response' },
    startTimeout: { ms: 30_000, problem: 'the assertion thread of the probe did not start within 30 s' },
    queueLimit: { waiting: 1, problem: 'the assertion thread is busy' },
  })
  const turns = createFairLimiter({
    ...{ maxConcurrent: 1, maxConcurrentPerKey: 1, maxWaitingPerKey: MAX_WAITING, waitTimeoutMs: MAX_WAIT_MS },
    refuse: () => new Error('too many large responses are waiting for assertions on this probe'),
  })
  return (
    assertions: Assertion[],
    observation: Observation,
    nowMs: number,
    tenant = 0,
  ): AssertionEvaluation | Promise<AssertionEvaluation> => {
    if (estimateWork(assertions, observation) <= MAX_INLINE_WORK) return evaluate(assertions, observation, nowMs)
    return turns.run(String(tenant), () => ask({ assertions, observation: toTransferable(observation), nowMs }))
  }
}

/** An X509Certificate cannot be transferred to a thread. Assertions only need its expiry date. */
function toTransferable(observation: Observation): Observation {
  const { certificate } = observation
  const seen = certificate && { validTo: certificate.validTo }
  return { ...observation, certificate: seen as Observation['certificate'], firstCertificate: null }
}

function startThread(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB }
  const file = import.meta.url.endsWith('.ts') ? './assertion-thread-source.mjs' : './assertion-thread.js'
  return typeof ASSERTION_THREAD === 'string'
    ? new Worker(ASSERTION_THREAD, { eval: true, resourceLimits })
    : new Worker(new URL(file, import.meta.url), { resourceLimits })
}
