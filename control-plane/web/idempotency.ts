import type { FastifyReply, FastifyRequest } from 'fastify'
import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import type { SealedColumn } from '../platform/reseal.ts'
import { type Secrets, sha256 } from '../platform/secrets.ts'
import type { App } from './app.ts'
import { callerOf, hasCaller } from './auth.ts'
import { conflict, validationError } from './errors.ts'
import { keepAnswer, readKeptAnswer, releaseIdempotencyKey, takeIdempotencyKey } from './store.ts'

type Taken = { projectId: string; key: string; at: Date }

/** Answers that say "try again" or "correct this" are not kept. */
const isTransient = (status: number) => status >= 500 || status === 429 || status === 400

/**
 * `Idempotency-Key` on every authenticated POST under /api/v1: the first answer again for the same request, 409 for
 * another request or while the first is being worked on (decisions 1.6). Kept answers are sealed.
 */
export function addIdempotency(app: App, { db, secrets }: { db: Db; secrets: Secrets }): void {
  const taken = new WeakMap<object, Taken>()

  app.addHook('preHandler', (request, reply, done) => {
    if (!isKeyed(request)) return done()
    answerKept(request, reply).then(isAnswered => isAnswered || done(), done)
  })

  /** Takes the key for this request, or answers what is kept under it: then true. */
  async function answerKept(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const key = keyOf(request)
    const { projectId } = callerOf(request)
    const requestHash = sha256(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`)
    const at = now()
    if (await takeIdempotencyKey(db, projectId, key, requestHash, at)) {
      taken.set(request, { projectId, key, at })
      return false
    }
    const kept = await readKeptAnswer(db, projectId, key)
    if (kept && !kept.requestHash.equals(requestHash)) {
      throw conflict('this Idempotency-Key was used for another request')
    }
    if (!kept?.answer || kept.status === null) {
      throw conflict('the first request with this Idempotency-Key is still being worked on')
    }
    answerAgain(reply, kept.status, secrets.open(kept.answer, boundTo(projectId, key)))
    return true
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const mine = taken.get(request)
    if (!mine) return done()
    taken.delete(request)
    keep(mine, request, reply, payload).then(() => done(), done)
  })

  async function keep({ projectId, key, at }: Taken, request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    try {
      if (isTransient(reply.statusCode)) await releaseIdempotencyKey(db, projectId, key, at)
      else {
        const sealed = secrets.seal(String(payload ?? ''), boundTo(projectId, key))
        await keepAnswer(db, projectId, key, at, reply.statusCode, sealed)
      }
    } catch (error) {
      // the work is done and its answer is worth more than the chance to repeat it
      request.log.error({ err: error, request_id: request.id }, 'could not keep the answer of an idempotent request')
    }
  }
}

const isKeyed = (request: FastifyRequest): boolean =>
  request.headers['idempotency-key'] !== undefined && request.method === 'POST' && hasCaller(request)

function keyOf(request: FastifyRequest): string {
  const key = request.headers['idempotency-key']
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters'
  throw validationError([{ path: 'Idempotency-Key', message }])
}

const answerAgain = (reply: FastifyReply, status: number, body: string) =>
  reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('idempotent-replayed', 'true')
    .send(body)

const boundTo = (projectId: string, key: string) => `${projectId}:idempotency:${key}`

/** For a new key of the installation. */
export const SEALED_IN_IDEMPOTENCY: SealedColumn[] = [
  {
    table: 'idempotency_keys',
    column: 'answer',
    key: ['project_id', 'key'],
    needs: [],
    bindingOf: row => boundTo(row.project_id!, row.key!),
  },
]
