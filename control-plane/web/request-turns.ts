import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../shared/metrics.ts'
import { createTurns } from '../platform/turns.ts'
import { callerOf, hasCaller } from './auth.ts'
import { rateLimited, tooBusy } from './errors.ts'

/** Of a project in one process. Most requests hold one connection at a time, some two: about a third of a pool of 20. */
const AT_ONCE = 6
const MOST_WAITING = 250
const PATIENCE_MS = 10_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** its answer waits for others, mostly without a connection: it takes no turn, and has a limit of its own */
    isPatient?: boolean
  }
}

export type RequestTurns = {
  /** preHandler: waits for the project's turn before anything of the request asks the database */
  begin(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
  /** onSend: the work is done */
  end(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void): void
}

/** A project's share of the connections of the API: however many requests it sends at once, a few are worked on. */
export function createRequestTurns(metrics: Metrics): RequestTurns {
  const waiting = metrics.gauge('picket_api_requests_waiting', 'Requests that wait for others of their project')
  const refused = metrics.counter('picket_api_requests_refused_total', 'Requests turned away for others of theirs', [
    'why',
  ])
  const turns = createTurns({
    ...{ atOnce: Number.POSITIVE_INFINITY, atOnceEach: AT_ONCE, mostWaitingEach: MOST_WAITING },
    patienceMs: PATIENCE_MS,
    onWaiting: change => waiting.inc(change),
    refuse: why => {
      refused.inc({ why })
      if (why === 'late') return tooBusy('the requests that this project sent before take too long')
      return rateLimited(`more than ${MOST_WAITING} requests of this project wait for others of it`, 1)
    },
  })
  const ends = new WeakMap<object, () => void>()
  return {
    begin(request, _reply, done) {
      const { isPatient, isHeavy } = request.routeOptions.config
      if (!hasCaller(request) || isPatient || isHeavy) return done()
      const { projectId } = callerOf(request)
      const begin = (end: () => void) => {
        ends.set(request, end)
        done()
      }
      const end = turns.takeNow(projectId)
      if (end) return begin(end)
      turns.take(projectId).then(begin, done)
    },
    end(request, _reply, _payload, done) {
      ends.get(request)?.()
      ends.delete(request)
      done()
    },
  }
}
