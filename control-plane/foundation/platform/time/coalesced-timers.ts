import { monotonicMs } from './clock.ts'

/**
 * Timers that do not have to be exact end together, on the ticks of this process: an idle process wakes up twice a second
 * for all of them. Ticks count from the start of the process, so they differ between processes.
 */
const TICK_MS = 500

type PendingTimer = { end: () => void }
type Tick = { waits: Set<PendingTimer>; timer: NodeJS.Timeout }

const ticks = new Map<number, Tick>()

/** A first wait is at most this many ticks shorter than the others. */
const MAX_TICKS_EARLIER = 20

let startedCount = 0

/**
 * The first wait of work that runs every `ms`. It ends up to 10 s earlier, each time by another number of ticks, so work
 * that started together runs on the same tick less often and needs fewer connections at the same time.
 */
export function computeFirstDelayMs(ms: number): number {
  const ticksOfWait = Math.max(1, Math.floor(ms / TICK_MS))
  return ms - TICK_MS * (startedCount++ % Math.min(ticksOfWait, MAX_TICKS_EARLIER))
}

/** Calls `listener` on the tick nearest to `ms` from now, at the earliest on the next one. Returns a function that cancels it. */
export function setCoalescedTimeout(ms: number, listener: () => void): () => void {
  const nowMs = monotonicMs()
  return addToTick(Math.max(Math.round((nowMs + ms) / TICK_MS), Math.floor(nowMs / TICK_MS) + 1), nowMs, listener)
}

/**
 * Calls `listener` on the next tick whose time since the start of the process is a multiple of `ms`: all waits of the same
 * length end together, whenever they began, also with those of twice the length. A wait is as long as `ms` or shorter, and
 * up to 250 ms longer. Returns a function that cancels it.
 */
export function setAlignedTimeout(ms: number, listener: () => void): () => void {
  const nowMs = monotonicMs()
  const ticksOfWait = Math.max(1, Math.round(ms / TICK_MS))
  return addToTick((Math.floor(Math.round(nowMs / TICK_MS) / ticksOfWait) + 1) * ticksOfWait, nowMs, listener)
}

function addToTick(number: number, nowMs: number, listener: () => void): () => void {
  const tick = ticks.get(number) ?? startTick(number, nowMs)
  const wait = { end: listener }
  tick.waits.add(wait)
  return () => {
    if (!tick.waits.delete(wait) || tick.waits.size > 0) return
    clearTimeout(tick.timer)
    ticks.delete(number)
  }
}

function startTick(number: number, nowMs: number): Tick {
  const waits = new Set<PendingTimer>()
  const timer = setTimeout(
    () => {
      ticks.delete(number)
      for (const wait of [...waits]) if (waits.delete(wait)) wait.end()
    },
    Math.ceil(number * TICK_MS - nowMs),
  )
  const tick = { waits, timer }
  ticks.set(number, tick)
  return tick
}

/** Resolves on the tick nearest to `ms` from now, or as soon as `signal` aborts. Never rejects. */
export function sleepCoalesced(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = setCoalescedTimeout(ms, done)
    signal?.addEventListener('abort', done)
  })
}
