import type { FastifyReply, FastifyRequest } from 'fastify'
import { createFairLimiter } from '../../../../shared/process/fair-limiter.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { getCaller, hasCaller } from '../auth/authentication.ts'
import { rateLimited, tooBusy } from '../server/errors.ts'

/** Requests of a project in one process. Most hold one connection at a time, some two. */
const MAX_CONCURRENT = 6
const MAX_WAITING = 250

declare module 'fastify' {
  interface FastifyRequest {
    /** ends the turn of a request that took one of its project's places */
    endTurn: (() => void) | null
  }
  interface FastifyContextConfig {
    /** it mostly waits without a connection: it does not use the request queue, and has a limit of its own */
    isPatient?: boolean
  }
}

type RequestQueue = {
  /** preHandler hook: waits for the project's turn before the first query of the request */
  begin(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
  /** onSend hook: ends the turn */
  end(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void): void
}

/** Limits the concurrent requests of a project, and so its share of the database connections (docs/design/api.md#request-queue). */
export function createRequestQueue(metrics: Metrics, waitTimeoutMs: number): RequestQueue {
  const waiting = metrics.gauge('picket_api_requests_waiting', 'Requests that wait for other requests of their project')
  const refused = metrics.counter(
    'picket_api_requests_refused_total',
    'Requests refused because of other requests of their project',
    ['why'],
  )
  const turns = createFairLimiter({
    ...{ maxConcurrent: Number.POSITIVE_INFINITY, maxConcurrentPerKey: MAX_CONCURRENT, maxWaitingPerKey: MAX_WAITING },
    waitTimeoutMs,
    onWaiting: change => waiting.inc(change),
    refuse: why => {
      refused.inc({ why })
      if (why === 'late') return tooBusy('earlier requests of this project take too long')
      return rateLimited(`more than ${MAX_WAITING} requests of this project are waiting`, 1)
    },
  })
  return {
    begin(request, _reply, done) {
      const { isPatient, isHeavy } = request.routeOptions.config
      if (!hasCaller(request) || isPatient || isHeavy) return done()
      const { projectId } = getCaller(request)
      const begin = (end: () => void) => {
        request.endTurn = end
        done()
      }
      const end = turns.tryAcquire(projectId)
      if (end) return begin(end)
      turns.acquire(projectId).then(begin, done)
    },
    end(request, _reply, _payload, done) {
      request.endTurn?.()
      request.endTurn = null
      done()
    },
  }
}
