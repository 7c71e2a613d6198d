/** The one clock of the control plane. Pure files take `now` as an argument instead. */

let sourceNowMs: () => number | null = () => null

/**
 * From now on the time is what `nowMs` says: PostgreSQL's, whose rows all processes share (engine-clocks.ts). Until it
 * knows the time, and in programs that never call this, it is the machine's.
 */
export function setClockSource(clock: { nowMs: () => number | null }): void {
  sourceNowMs = clock.nowMs
}

export const nowMs = (): number => {
  const followed = sourceNowMs()
  return followed === null ? Date.now() : Math.floor(followed)
}
export const now = (): Date => new Date(nowMs())

/** What the machine's own clock says: to tell how wrong it is, and for nothing else. */
export const machineNowMs = (): number => Date.now()

/** Milliseconds by the monotonic clock: for durations, never for dates. */
export const monotonicMs = (): number => performance.now()

/** By less than this the clock was learned better, not set. */
const MIN_SET_BACK_MS = 1_000

/** Answers whether the clock has been set back since the call before; true the first time, because it may have been set back before. */
export function createSetBackDetector(): () => boolean {
  let aheadMs: number | null = null
  return () => {
    const nextMs = nowMs() - monotonicMs()
    const isSetBack = aheadMs === null || nextMs < aheadMs - MIN_SET_BACK_MS
    aheadMs = isSetBack ? nextMs : Math.max(aheadMs!, nextMs)
    return isSetBack
  }
}

/** Resolves after `ms`, or at once when `signal` aborts (it never rejects). */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
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

/** Between two pieces of long work. */
export type YieldPoint = () => Promise<void>

const YIELD_INTERVAL_MS = 5

const waitingPieces: (() => void)[] = []

/** One piece of all long work between two turns of the event loop: however much of it there is, each takes its turn. */
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

/** For long work in pieces: after each piece it lets others go on, when the work has kept them for `everyMs`. */
export function createYieldPoint(everyMs = YIELD_INTERVAL_MS): YieldPoint {
  let sinceMs = monotonicMs()
  return async () => {
    if (monotonicMs() - sinceMs < everyMs) return
    await waitForTurn()
    sinceMs = monotonicMs()
  }
}

/** What some work answers, or null when it takes longer than `ms`. It rejects as the work does. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>(resolve => {
    timer = setTimeout(resolve, ms, null)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
