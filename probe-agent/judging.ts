import { Worker } from 'node:worker_threads'
import { evaluate, type Judgement, workOf } from '../shared/assertions/evaluate.ts'
import type { Assertion } from '../shared/check.ts'
import type { Observation } from '../shared/result.ts'
import { type Cancel, machine } from './clock.ts'

/** What the thread is asked and answers. Times in ms since 1970. */
export type Question = { id: number; assertions: Assertion[]; observation: Observation; nowMs: number }
export type Answer = { id: number; judgement: Judgement } | { id: number; problem: string }
/** The thread's first message: from here on it works. */
export type Ready = 'ready'

/** Judged where we stand: some 8 ms at worst, as `workOf` counts. A whole page, or a regular expression on it, is more. */
const INLINE_WORK = 200_000
/** A customer's expression that takes longer than this on a customer's page is given up. */
const LONGEST_MS = 2_000
/** A new thread has so long to load its program, which on a busy machine takes seconds and is nobody's expression. */
const START_MS = 30_000
const WAITING_AT_MOST = 500
const MEMORY_MB = 128

type Waiting = { question: Question; resolve: (judgement: Judgement) => void; reject: (error: Error) => void }

/** The thread's program, in the single executable only (deploy/probe), which has no files beside it. */
declare const JUDGING_THREAD: string | undefined

let thread: Worker | null = null
let isReady = false
let stopWaiting: Cancel = () => {}
let lastId = 0
const waiting: Waiting[] = []

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
  if (waiting.length >= WAITING_AT_MOST) throw new Error('the probe has too many large pages to look through')
  return new Promise((resolve, reject) => {
    waiting.push({ question: { id: ++lastId, assertions, observation: plain(observation), nowMs }, resolve, reject })
    if (waiting.length === 1) ask()
  })
}

/** A certificate does not travel to a thread; its date is all that assertions look at. */
function plain(observation: Observation): Observation {
  const { certificate } = observation
  const seen = certificate && { validTo: certificate.validTo }
  return { ...observation, certificate: seen as Observation['certificate'] }
}

function ask(): void {
  const next = waiting[0]
  if (!next) {
    thread?.unref()
    return
  }
  thread ??= startThread()
  thread.ref()
  waitFor(next)
  thread.postMessage(next.question)
}

function waitFor(one: Waiting): void {
  const [longestMs, problem] = isReady
    ? [LONGEST_MS, 'the expression takes too long on this page']
    : [START_MS, 'the probe has no time to look through large pages']
  stopWaiting = machine.after(longestMs, () => setImmediate(giveUp, one, problem))
}

/** The time that it took to start counts against no expression. */
function begin(worker: Worker): void {
  if (worker !== thread) return
  isReady = true
  stopWaiting()
  if (waiting[0]) waitFor(waiting[0])
}

function startThread(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB }
  const file = import.meta.url.endsWith('.ts') ? './judging-thread-source.mjs' : './judging-thread.js'
  const worker =
    typeof JUDGING_THREAD === 'string'
      ? new Worker(JUDGING_THREAD, { eval: true, resourceLimits })
      : new Worker(new URL(file, import.meta.url), { resourceLimits })
  worker.on('message', (message: Answer | Ready) => (message === 'ready' ? begin(worker) : settle(message)))
  worker.on('error', error => worker === thread && breakOff(error.message))
  return worker
}

/** Called after answers were read that came while our own loop stood still. */
function giveUp(one: Waiting, problem: string): void {
  if (one === waiting[0]) breakOff(problem)
}

/** The thread is beyond help: whom it worked for is told, the others get a new one. */
function breakOff(problem: string): void {
  void thread?.terminate()
  thread = null
  isReady = false
  const current = waiting[0]
  if (current) settle({ id: current.question.id, problem })
}

function settle(answer: Answer): void {
  stopWaiting()
  const current = waiting[0]
  if (current?.question.id !== answer.id) return
  waiting.shift()
  if ('problem' in answer) current.reject(new Error(answer.problem))
  else current.resolve(answer.judgement)
  ask()
}
