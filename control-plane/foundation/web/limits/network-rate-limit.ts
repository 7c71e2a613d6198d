import type { FastifyRequest } from 'fastify'
import { nowMs } from '../../platform/time/clock.ts'
import { rateLimited } from '../server/errors.ts'
import { getClientNetwork } from './client-network.ts'
import { createRateLimit } from './rate-limit.ts'

/** onRequest hook of a route without a key: throws 429 above `limit` requests a minute from one network, before the body is read. */
export function limitByNetwork(limit: number, what: string): (request: FastifyRequest) => Promise<void> {
  const use = createRateLimit(limit)
  return async request => {
    const { allowed, resetSeconds } = use(getClientNetwork(request), nowMs())
    if (!allowed) throw rateLimited(`more than ${limit} ${what} a minute from one network`, resetSeconds)
  }
}
