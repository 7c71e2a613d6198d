import type { FastifyRequest } from 'fastify'
import { createFairLimiter } from '../../../../shared/process/fair-limiter.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { getCaller } from '../auth/authentication.ts'
import { rateLimited, tooBusy } from '../server/errors.ts'

const MAX_CONCURRENT = 2
const MAX_WAITING = 5
const RETRY_AFTER_S = 5

declare module 'fastify' {
  interface FastifyContextConfig {
    /** it writes many rows: its work runs in a turn of HeavyWrites instead of the request queue */
    isHeavy?: boolean
  }
}

export type HeavyWrites = {
  /** Runs the work when it is the project's turn. Throws 429 when too many wait, and 503 after a long wait. */
  run<T>(projectId: string, work: () => Promise<T>): Promise<T>
  /** onRequest hook of a heavy route: throws 429 before the body is read when too many wait. */
  assertCapacity(request: FastifyRequest): Promise<void>
}

/**
 * Limits transactions that write hundreds of rows to one for each project and two for each process. Waiting ones hold no
 * connection. See docs/design/api.md#request-queue.
 */
export function createHeavyWrites(metrics: Metrics, waitTimeoutMs: number): HeavyWrites {
  const waiting = metrics.gauge('picket_api_heavy_writes_waiting', 'Imports and bulk creates that wait for their turn')
  const refused = metrics.counter('picket_api_heavy_writes_refused_total', 'Refused imports and bulk creates', ['why'])
  const refuse = (why: 'full' | 'late') => {
    refused.inc({ why })
    if (why === 'late') return tooBusy('other large changes take too long')
    const message = `${MAX_WAITING} imports and bulk creates of this project are already waiting; they run one at a time`
    return rateLimited(message, RETRY_AFTER_S)
  }
  const turns = createFairLimiter({
    ...{
      maxConcurrent: MAX_CONCURRENT,
      maxConcurrentPerKey: 1,
      maxWaitingPerKey: MAX_WAITING,
      waitTimeoutMs,
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
