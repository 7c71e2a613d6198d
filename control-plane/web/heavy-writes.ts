import type { FastifyRequest } from 'fastify'
import type { Metrics } from '../../shared/metrics.ts'
import { createTurns } from '../platform/turns.ts'
import { callerOf } from './auth.ts'
import { rateLimited, tooBusy } from './errors.ts'

const AT_ONCE = 2
const MOST_WAITING = 5
const PATIENCE_MS = 20_000
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
  assertRoom(request: FastifyRequest): Promise<void>
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
    const message = `${MOST_WAITING} imports and bulk creates of this project wait already: they run one after the other`
    return rateLimited(message, RETRY_AFTER_S)
  }
  const turns = createTurns({
    ...{ atOnce: AT_ONCE, atOnceEach: 1, mostWaitingEach: MOST_WAITING, patienceMs: PATIENCE_MS },
    onWaiting: change => waiting.inc(change),
    refuse,
  })
  return {
    run: turns.run,
    async assertRoom(request) {
      if (turns.isFull(callerOf(request).projectId)) throw refuse('full')
    },
  }
}
