import type { FastifyRequest } from 'fastify'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { createFairLimiter } from '../../platform/concurrency/fair-limiter.ts'
import { getCaller } from '../auth/authentication.ts'
import { rateLimited, tooBusy } from '../server/errors.ts'

const MAX_CONCURRENT = 2
const MAX_WAITING = 5
const WAIT_TIMEOUT_MS = 20_000
const RETRY_AFTER_S = 5

declare module 'fastify' {
  interface FastifyContextConfig {
    /** it writes much at once: its work runs in a turn of HeavyWrites instead of a turn among all requests */
    isHeavy?: boolean
  }
}

export type HeavyWrites = {
  /** Does the work when it is the project's turn. Throws 429 and 503 for what may not wait, or has waited too long. */
  run<T>(projectId: string, work: () => Promise<T>): Promise<T>
  /** onRequest of a heavy route: refuses what may not wait before its body is read. Throws 429. */
  assertCapacity(request: FastifyRequest): Promise<void>
}

/** Transactions that write hundreds of rows, one at a time of a project and two of a process, none with a connection before. */
export function createHeavyWrites(metrics: Metrics): HeavyWrites {
  const waiting = metrics.gauge('picket_api_heavy_writes_waiting', 'Imports and bulk creates that wait for others')
  const refused = metrics.counter('picket_api_heavy_writes_refused_total', 'Imports and bulk creates turned away', [
    'why',
  ])
  const refuse = (why: 'full' | 'late') => {
    refused.inc({ why })
    if (why === 'late') return tooBusy('other large changes take too long')
    const message = `${MAX_WAITING} imports and bulk creates of this project wait already: they run one after the other`
    return rateLimited(message, RETRY_AFTER_S)
  }
  const turns = createFairLimiter({
    ...{
      maxConcurrent: MAX_CONCURRENT,
      maxConcurrentPerKey: 1,
      maxWaitingPerKey: MAX_WAITING,
      waitTimeoutMs: WAIT_TIMEOUT_MS,
    },
    onWaiting: change => waiting.inc(change),
    refuse,
  })
  return {
    run: turns.run,
    async assertCapacity(request) {
      if (turns.isFull(getCaller(request).projectId)) throw refuse('full')
    },
  }
}
