import type { FastifyReply, FastifyRequest } from 'fastify'
import { type SecretCipher, sha256 } from '../../platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../platform/crypto/reencrypt.ts'
import type { Db } from '../../platform/postgres/client.ts'
import { now } from '../../platform/time/clock.ts'
import { getCaller, hasCaller } from '../auth/authentication.ts'
import { conflict, toErrorBody, validationError } from './errors.ts'
import {
  findStoredAnswer,
  type IdempotencyClaim,
  isAbandoned,
  releaseIdempotencyKey,
  storeAnswer,
  takeIdempotencyKey,
} from './idempotency-store.ts'
import type { App } from './types.ts'

const claims = new WeakMap<object, IdempotencyClaim>()

/** What a request has claimed by its Idempotency-Key; null without one. */
export const findClaim = (request: object): IdempotencyClaim | null => claims.get(request) ?? null

/** Nobody knows whether the request was carried out: its key is neither given back nor answered. */
export function leaveClaimOpen(request: object): void {
  claims.delete(request)
}

/** Answers that say "try again" or "correct this" are not kept. */
const isTransient = (status: number) => status >= 500 || status === 429 || status === 400

const buildLostAnswerError = () =>
  conflict(
    'the first request with this Idempotency-Key was carried out, but its answer was lost; look at what there is before you send it with another key',
  )

/**
 * `Idempotency-Key` on every authenticated POST under /api/v1: the first answer again for the same request, 409 for
 * another request, while the first is being worked on, and where its answer was lost (decisions 1.6). Kept answers are
 * sealed.
 */
export function addIdempotency(app: App, { db, secrets }: { db: Db; secrets: SecretCipher }): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (!hasIdempotencyKey(request)) return done()
    answerKept(request, reply).then(isAnswered => isAnswered || done(), done)
  })

  /** Claims the key for this request, or answers what is kept under it: then true. */
  async function answerKept(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const claim = { projectId: getCaller(request).projectId, key: parseIdempotencyKey(request), at: now() }
    const requestHash = sha256(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`)
    if (await takeIdempotencyKey(db, claim, requestHash)) {
      claims.set(request, claim)
      return false
    }
    const kept = await findStoredAnswer(db, claim)
    if (kept && !kept.requestHash.equals(requestHash)) {
      throw conflict('this Idempotency-Key was used for another request')
    }
    if (!kept?.answer || kept.status === null) {
      if (kept && isAbandoned(kept, claim.at)) throw buildLostAnswerError()
      throw conflict('the first request with this Idempotency-Key is still being worked on')
    }
    sendStoredAnswer(reply, kept.status, secrets.decrypt(kept.answer, buildBinding(claim)))
    return true
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const claim = findClaim(request)
    if (!claim) return done()
    claims.delete(request)
    keep(claim, request, reply.statusCode, String(payload ?? '')).then(() => done(), done)
  })

  async function keep(claim: IdempotencyClaim, request: FastifyRequest, status: number, answer: string): Promise<void> {
    try {
      if (!isTransient(status)) await keepSealed(claim, status, answer)
      else if (!(await releaseIdempotencyKey(db, claim))) {
        const error = buildLostAnswerError()
        await keepSealed(claim, error.status, JSON.stringify(toErrorBody(error)))
      }
    } catch (error) {
      // the work is done and its answer is worth more than the chance to repeat it
      request.log.error({ err: error, request_id: request.id }, 'could not keep the answer of an idempotent request')
    }
  }

  const keepSealed = (claim: IdempotencyClaim, status: number, answer: string) =>
    storeAnswer(db, claim, status, secrets.encrypt(answer, buildBinding(claim)))
}

const hasIdempotencyKey = (request: FastifyRequest): boolean =>
  request.headers['idempotency-key'] !== undefined && request.method === 'POST' && hasCaller(request)

function parseIdempotencyKey(request: FastifyRequest): string {
  const key = request.headers['idempotency-key']
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters'
  throw validationError([{ path: 'Idempotency-Key', message }])
}

const sendStoredAnswer = (reply: FastifyReply, status: number, body: string) =>
  reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('idempotent-replayed', 'true')
    .send(body)

const buildBinding = ({ projectId, key }: Pick<IdempotencyClaim, 'projectId' | 'key'>) =>
  `${projectId}:idempotency:${key}`

/** For a new key of the installation. */
export const ENCRYPTED_IDEMPOTENCY_COLUMNS: EncryptedColumn[] = [
  {
    table: 'idempotency_keys',
    column: 'answer',
    key: ['project_id', 'key'],
    needs: [],
    bindingOf: row => buildBinding({ projectId: row.project_id!, key: row.key! }),
  },
]
