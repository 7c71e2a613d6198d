import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { nowMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { getClientNetwork } from '../../../foundation/web/limits/client-network.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { toApiError } from '../../../foundation/web/server/error-response.ts'
import { notFound, rateLimited, unavailable } from '../../../foundation/web/server/errors.ts'
import { type HeartbeatTools, storePings } from '../actions.ts'
import { decodePingBody, MAX_PING_BODY_BYTES } from '../text.ts'
import type { PingArrival } from '../types.ts'
import { createGroupCommit } from './group-commit.ts'
import { createPingIntake, type PingIntakeTools } from './intake-actions.ts'
import { createPingLimits } from './ping-limits.ts'
import { isPingToken, parseSignal } from './signal.ts'

type PingContext = HeartbeatTools & PingIntakeTools & { pingsPerMinute: number }

type PingRequest = FastifyRequest<{ Params: { token: string; signal?: string } }>

/** One commit at a time is fastest. A second group starts only when a lock blocks the first one. */
const GROUPS = {
  size: 500,
  groups: 4,
  waiting: 20_000,
  full: () => unavailable('too many concurrent pings'),
  untilStuck: () => sleep(200),
}

/**
 * Ping URLs (docs/design/heartbeats.md#ping-urls), outside /api/v1: the token is the only secret, responses are short
 * texts. A ping is answered with `OK` after its commit, or after JetStream has stored it while PostgreSQL is
 * unavailable, so that no acknowledged ping is lost.
 */
export function pingRoutes(app: App, { pingsPerMinute, ...tools }: PingContext): void {
  const store = (arrivals: PingArrival[]) => storePings(tools, arrivals)
  const accept = createPingIntake(tools, createGroupCommit(store, GROUPS))
  const limits = createPingLimits(pingsPerMinute)

  // accept a body of any content type, also an invalid one, which Fastify refuses before its parser; read and drop what exceeds the limit
  app.addHook('onRequest', async request => {
    delete request.headers['content-type']
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: unknown, body: AsyncIterable<Buffer>) => readBody(body))
  app.setErrorHandler(answerText)

  for (const url of ['/ping/:token', '/ping/:token/:signal']) {
    app.route({
      method: ['GET', 'HEAD', 'POST'],
      url,
      config: { hosts: 'any' },
      handler: async (request: PingRequest, reply) => {
        const receivedAtMs = nowMs()
        const { token } = request.params
        const signal = parseSignal(request.params.signal)
        if (!isPingToken(token) || signal === null) throw notFound('ping URL')
        const client = getClientNetwork(request)
        const use = limits.use(token, client, nowMs())
        if (!use.allowed) throw rateLimited('too many pings', use.resetSeconds)
        const body = decodePingBody((request.body as Buffer | undefined) ?? Buffer.alloc(0))
        const found = { id: newId(), tokenHash: sha256(token), signal, body, receivedAtMs }
        const arrival = { ...found, isKept: false, isWithdrawn: false }
        const outcome = await accept(arrival)
        limits.record(token, client, outcome, nowMs())
        if (outcome === 'unknown') throw notFound('ping URL')
        return text(reply).send('OK')
      },
    })
  }
}

async function readBody(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    if (length < MAX_PING_BODY_BYTES) chunks.push(chunk)
    length += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, MAX_PING_BODY_BYTES)
}

function answerText(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, message, extra } = toApiError(thrown, request)
  if (status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a ping failed')
  if (extra.retryAfterSeconds !== undefined) reply.header('retry-after', extra.retryAfterSeconds)
  return text(reply).code(status).send(message)
}

const text = (reply: FastifyReply) =>
  reply.header('content-type', 'text/plain; charset=utf-8').header('cache-control', 'no-store')
