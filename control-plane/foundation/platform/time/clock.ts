/** The only clock of the control plane (docs/design/loops.md#clocks). Pure files have `now` as an argument instead. */

import { type DeadlineSignal, startTimeLimit } from '../../../../shared/egress/deadline.ts'

let sourceNowMs: () => number | null = () => null

/**
 * Makes `nowMs` the source of the time: PostgreSQL's time, because all processes share its rows (engine-clocks.ts). Until
 * the source knows the time, and in programs that never call this, the machine's clock is used.
 */
export function setClockSource(clock: { nowMs: () => number | null }): void {
  sourceNowMs = clock.nowMs
}

/** It can be set back by hours: for the age of what a process keeps in memory, use `monotonicMs`. */
export const nowMs = (): number => {
  const followed = sourceNowMs()
  return followed === null ? Date.now() : Math.floor(followed)
}
export const now = (): Date => new Date(nowMs())

/** The machine's own clock. Only for measuring how wrong it is. */
export const machineNowMs = (): number => Date.now()

/**
 * By how much PostgreSQL's time may differ between two processes, in ms. A row with a time that is further ahead is probably from
 * before the clock was set back, or from a process that noticed first that it was set ahead.
 */
export const CLOCK_TOLERANCE_MS = 1_000

/** Milliseconds of the monotonic clock, for durations and never for dates. */
export const monotonicMs = (): number => performance.now()

/** A smaller step is a more precise measurement, not a clock that was set. */
const MIN_STEP_MS = 1_000

/** Returns whether the clock has been set back since the previous call. True at the first call, because it may have been set back earlier. */
export function createSetBackDetector(): () => boolean {
  let aheadMs: number | null = null
  return () => {
    const nextMs = nowMs() - monotonicMs()
    const isSetBack = aheadMs === null || nextMs < aheadMs - MIN_STEP_MS
    aheadMs = isSetBack ? nextMs : Math.max(aheadMs!, nextMs)
    return isSetBack
  }
}

/** Returns whether the clock has been set ahead since the previous call, or since the detector was created. */
export function createSetAheadDetector(): () => boolean {
  let aheadMs = nowMs() - monotonicMs()
  return () => {
    const beforeMs = aheadMs
    aheadMs = nowMs() - monotonicMs()
    return aheadMs > beforeMs + MIN_STEP_MS
  }
}

/** Calls `work` after `ms`, unless the returned function is called before. Does not keep the process alive. */
export function startTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}

/** A timer may fire a little early: what waits for a time of the database adds this. In ms. */
export const TIMER_SLACK_MS = 5

/** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. */
export function sleep(ms: number, signal?: DeadlineSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}

/** Awaited between two pieces of long work. */
export type YieldPoint = () => Promise<void>

const YIELD_INTERVAL_MS = 5

const waitingPieces: (() => void)[] = []

/** Runs one piece of all long work between two turns of the event loop, however much work waits. */
function waitForTurn(): Promise<void> {
  return new Promise(resolve => {
    waitingPieces.push(resolve)
    if (waitingPieces.length === 1) setImmediate(runNextPiece)
  })
}

function runNextPiece(): void {
  waitingPieces.shift()?.()
  if (waitingPieces.length > 0) setImmediate(runNextPiece)
}

/** For long work in pieces: yields to other work when `everyMs` have passed since the last turn. See docs/design/loops.md#long-work. */
export function createYieldPoint(everyMs = YIELD_INTERVAL_MS): YieldPoint {
  let sinceMs = monotonicMs()
  return async () => {
    if (monotonicMs() - sinceMs < everyMs) return
    await waitForTurn()
    sinceMs = monotonicMs()
  }
}

/**
 * The result of `work`, or null when it takes longer than `ms`, without the time in which this process was blocked, but at
 * most twice as long. Rejects when the work rejects.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let stop = () => {}
  const late = new Promise<null>(resolve => {
    const stopLimit = startTimeLimit(ms, () => resolve(null))
    // a process that is always busy would extend the limit without end
    const timer = setTimeout(resolve, 2 * ms, null)
    stop = () => {
      stopLimit()
      clearTimeout(timer)
    }
  })
  return Promise.race([work, late]).finally(() => stop())
}
