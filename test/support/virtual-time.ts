import { setImmediate as turn } from 'node:timers/promises'
import type { Timers } from '../../probe-agent/clock.ts'

export type VirtualTime = Timers & {
  /** Advances the time by this many ms: every due timer fires in order, and the work that it started continues. */
  pass: (ms: number) => Promise<void>
}

type Timer = { dueMs: number; work: () => void }

/** Time that passes only when the test advances it. */
export function createVirtualTime(): VirtualTime {
  let nowMs = 0
  const timers = new Set<Timer>()

  function after(ms: number, work: () => void): () => void {
    const timer = { dueMs: nowMs + Math.max(0, ms), work }
    timers.add(timer)
    return () => void timers.delete(timer)
  }

  const earliest = () => [...timers].reduce<Timer | null>((a, b) => (a && a.dueMs <= b.dueMs ? a : b), null)

  return {
    monotonicMs: () => nowMs,
    after,
    soon: work => void after(0, work),
    async pass(ms) {
      const endMs = nowMs + ms
      for (let timer = earliest(); timer && timer.dueMs <= endMs; timer = earliest()) {
        timers.delete(timer)
        nowMs = timer.dueMs
        timer.work()
        await turn()
      }
      nowMs = endMs
    },
  }
}
