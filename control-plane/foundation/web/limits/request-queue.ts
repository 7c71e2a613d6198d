import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { createFairLimiter } from '../../platform/concurrency/fair-limiter.ts'
import { getCaller, hasCaller } from '../auth/authentication.ts'
import { rateLimited, tooBusy } from '../server/errors.ts'

/** Of a project in one process. Most requests hold one connection at a time, some two: about a third of a pool of 20. */
const MAX_CONCURRENT = 6
const MAX_WAITING = 250
const WAIT_TIMEOUT_MS = 10_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** its answer waits for others, mostly without a connection: it takes no turn, and has a limit of its own */
    isPatient?: boolean
  }
}

export type RequestQueue = {
  /** preHandler: waits for the project's turn before anything of the request asks the database */
  begin(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
  /** onSend: the work is done */
  end(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void): void
}

/** A project's share of the connections of the API: however many requests it sends at once, a few are worked on. */
export function createRequestQueue(metrics: Metrics): RequestQueue {
  const waiting = metrics.gauge('picket_api_requests_waiting', 'Requests that wait for others of their project')
  const refused = metrics.counter('picket_api_requests_refused_total', 'Requests turned away for others of theirs', [
    'why',
  ])
  const turns = createFairLimiter({
    ...{ maxConcurrent: Number.POSITIVE_INFINITY, maxConcurrentPerKey: MAX_CONCURRENT, maxWaitingPerKey: MAX_WAITING },
    waitTimeoutMs: WAIT_TIMEOUT_MS,
    onWaiting: change => waiting.inc(change),
    refuse: why => {
      refused.inc({ why })
      if (why === 'late') return tooBusy('the requests that this project sent before take too long')
      return rateLimited(`more than ${MAX_WAITING} requests of this project wait for others of it`, 1)
    },
  })
  const ends = new WeakMap<object, () => void>()
  return {
    begin(request, _reply, done) {
      const { isPatient, isHeavy } = request.routeOptions.config
      if (!hasCaller(request) || isPatient || isHeavy) return done()
      const { projectId } = getCaller(request)
      const begin = (end: () => void) => {
        ends.set(request, end)
        done()
      }
      const end = turns.tryAcquire(projectId)
      if (end) return begin(end)
      turns.acquire(projectId).then(begin, done)
    },
    end(request, _reply, _payload, done) {
      ends.get(request)?.()
      ends.delete(request)
      done()
    },
  }
}
