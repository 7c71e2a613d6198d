import { randomBytes, randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'

export type CancelTimer = () => void

/** The only clock of the program (monotonic), its timers and its only source of randomness. Times in ms. */
export const machine = {
  monotonicMs: () => performance.now(),
  /** the machine's wall clock, ms since 1970; used to report its offset, and to judge whether TLS could judge a certificate */
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
/** The part that the scheduler needs. A simulation replaces it and controls the time. */
export type Timers = Pick<Machine, 'monotonicMs' | 'after' | 'soon'>
