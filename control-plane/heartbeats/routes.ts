import type { FastifyReply, FastifyRequest } from 'fastify'
import { nowMs, sleep } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { sha256 } from '../platform/secrets.ts'
import { toApiError } from '../web/answer.ts'
import type { App } from '../web/app.ts'
import { notFound, rateLimited, unavailable } from '../web/errors.ts'
import { clientNetworkOf } from '../web/network.ts'
import { type HeartbeatTools, takePings } from './actions.ts'
import { createGroupCommit } from './group-commit.ts'
import { createTaking, type KeepTools } from './keep-actions.ts'
import { createPingLimits } from './limits.ts'
import { isToken, readSignal } from './signal.ts'
import { BODY_KEPT_BYTES, keptBody } from './text.ts'
import type { Arrival } from './types.ts'

export type PingContext = HeartbeatTools & KeepTools & { pingsPerMinute: number }

type PingRequest = FastifyRequest<{ Params: { token: string; signal?: string } }>

/** One commit at a time is fastest; a second group goes when a lock holds the first one up. */
const GROUPS = {
  size: 500,
  groups: 4,
  waiting: 20_000,
  full: () => unavailable('too many pings at once'),
  patience: () => sleep(200),
}

/**
 * Ping URLs (decisions 3.7), outside /api/v1: the token is the only secret, answers are short texts. `OK` is the answer
 * after the commit, or while PostgreSQL is not available after JetStream has stored the ping: what was acknowledged is
 * never lost.
 */
export function pingRoutes(app: App, { pingsPerMinute, ...tools }: PingContext): void {
  const store = (arrivals: Arrival[]) => takePings(tools, arrivals)
  const take = createTaking(tools, createGroupCommit(store, GROUPS))
  const limits = createPingLimits(pingsPerMinute)

  // any body is a ping's body, whatever it calls itself; what is too long is read and dropped
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: unknown, body: AsyncIterable<Buffer>) => beginningOf(body))
  app.setErrorHandler(answerText)

  for (const url of ['/ping/:token', '/ping/:token/:signal']) {
    app.route({
      method: ['GET', 'HEAD', 'POST'],
      url,
      config: { hosts: 'any' },
      handler: async (request: PingRequest, reply) => {
        const receivedAtMs = nowMs()
        const { token } = request.params
        const signal = readSignal(request.params.signal)
        if (!isToken(token) || signal === null) throw notFound('ping URL')
        const client = clientNetworkOf(request)
        const use = limits.use(token, client, nowMs())
        if (!use.allowed) throw rateLimited('too many pings', use.resetSeconds)
        const body = keptBody((request.body as Buffer | undefined) ?? Buffer.alloc(0))
        const found = { id: newId(), tokenHash: sha256(token), signal, body, receivedAtMs }
        const arrival = { ...found, isKept: false, isWithdrawn: false }
        const outcome = await take(arrival)
        limits.note(token, client, outcome, nowMs())
        if (outcome === 'unknown') throw notFound('ping URL')
        return text(reply).send('OK')
      },
    })
  }
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    if (length < BODY_KEPT_BYTES) chunks.push(chunk)
    length += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, BODY_KEPT_BYTES)
}

function answerText(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { status, message, extra } = toApiError(thrown, request)
  if (status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a ping failed')
  if (extra.retryAfterSeconds !== undefined) reply.header('retry-after', extra.retryAfterSeconds)
  return text(reply).code(status).send(message)
}

const text = (reply: FastifyReply) =>
  reply.header('content-type', 'text/plain; charset=utf-8').header('cache-control', 'no-store')
