import { randomBytes, randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'

export type CancelTimer = () => void

/** The program's one clock, which only goes forward, its timers and its one source of randomness. Times in ms. */
export const machine = {
  monotonicMs: () => performance.now(),
  /** since 1970 as this machine believes, to tell how wrong it is and for nothing else */
  believedMs: () => Date.now(),
  random: () => Math.random(),
  uuid: () => randomUUID(),
  /** 32 bytes as text */
  secret: () => randomBytes(32).toString('base64url'),
  after(ms: number, work: () => void): CancelTimer {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
  /** in the next turn of the event loop */
  soon: (work: () => void) => void setImmediate(work),
  every(ms: number, work: () => void): CancelTimer {
    const timer = setInterval(work, ms)
    return () => clearInterval(timer)
  },
  pause: (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms)),
}
export type Machine = typeof machine
/** What schedules checks: a simulation has a machine of its own, whose time it moves. */
export type Timers = Pick<Machine, 'monotonicMs' | 'after' | 'soon'>
