import { monotonicMs } from './clock.ts'

/**
 * Timers that do not have to be exact end on the beats of this process, together: an idle process wakes up twice a
 * second for all of them, and not for each. Processes have beats of their own, because the clock starts with them.
 */
const TICK_MS = 500

type PendingTimer = { end: () => void }
type Tick = { waits: Set<PendingTimer>; timer: NodeJS.Timeout }

const ticks = new Map<number, Tick>()

/** At most by so many beats is a first wait shorter than the others. */
const MAX_TICKS_EARLIER = 20

let startedCount = 0

/**
 * The first wait of work that is done every `ms`: it ends up to 10 s earlier, each time by another number of beats. Work
 * that begins together so meets on the same beat less often, where each needs a connection of its own.
 */
export function computeFirstDelayMs(ms: number): number {
  const beatsOfWait = Math.max(1, Math.floor(ms / TICK_MS))
  return ms - TICK_MS * (startedCount++ % Math.min(beatsOfWait, MAX_TICKS_EARLIER))
}

/** Calls `listener` on the beat that is nearest to `ms` from now, and not before the next one. The answer cancels it. */
export function setCoalescedTimeout(ms: number, listener: () => void): () => void {
  const nowMs = monotonicMs()
  const number = Math.max(Math.round((nowMs + ms) / TICK_MS), Math.floor(nowMs / TICK_MS) + 1)
  const beat = ticks.get(number) ?? startTick(number, nowMs)
  const wait = { end: listener }
  beat.waits.add(wait)
  return () => {
    if (!beat.waits.delete(wait) || beat.waits.size > 0) return
    clearTimeout(beat.timer)
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
  const beat = { waits, timer }
  ticks.set(number, beat)
  return beat
}

/** Resolves on the beat that is nearest to `ms` from now, or at once when `signal` aborts (it never rejects). */
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
