import { monotonicMs } from './clock.ts'

/**
 * Timers that do not have to be exact end on the beats of this process, together: an idle process wakes up twice a
 * second for all of them, and not for each. Processes have beats of their own, because the clock starts with them.
 */
const BEAT_MS = 500

type Wait = { end: () => void }
type Beat = { waits: Set<Wait>; timer: NodeJS.Timeout }

const beats = new Map<number, Beat>()

/** At most by so many beats is a first wait shorter than the others. */
const MOST_BEATS_EARLIER = 20

let begun = 0

/**
 * The first wait of work that is done every `ms`: it ends up to 10 s earlier, each time by another number of beats. Work
 * that begins together so meets on the same beat less often, where each needs a connection of its own.
 */
export function firstWaitMs(ms: number): number {
  const beatsOfWait = Math.max(1, Math.floor(ms / BEAT_MS))
  return ms - BEAT_MS * (begun++ % Math.min(beatsOfWait, MOST_BEATS_EARLIER))
}

/** Calls `listener` on the beat that is nearest to `ms` from now, and not before the next one. The answer cancels it. */
export function onBeat(ms: number, listener: () => void): () => void {
  const nowMs = monotonicMs()
  const number = Math.max(Math.round((nowMs + ms) / BEAT_MS), Math.floor(nowMs / BEAT_MS) + 1)
  const beat = beats.get(number) ?? beginBeat(number, nowMs)
  const wait = { end: listener }
  beat.waits.add(wait)
  return () => {
    if (!beat.waits.delete(wait) || beat.waits.size > 0) return
    clearTimeout(beat.timer)
    beats.delete(number)
  }
}

function beginBeat(number: number, nowMs: number): Beat {
  const waits = new Set<Wait>()
  const timer = setTimeout(
    () => {
      beats.delete(number)
      for (const wait of [...waits]) if (waits.delete(wait)) wait.end()
    },
    Math.ceil(number * BEAT_MS - nowMs),
  )
  const beat = { waits, timer }
  beats.set(number, beat)
  return beat
}

/** Resolves on the beat that is nearest to `ms` from now, or at once when `signal` aborts (it never rejects). */
export function sleepToBeat(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = onBeat(ms, done)
    signal?.addEventListener('abort', done)
  })
}
