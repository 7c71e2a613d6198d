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

declare module 'fastify' {
  interface FastifyRequest {
    /** the claim of a request with an Idempotency-Key; null without one */
    idempotencyClaim: IdempotencyClaim | null
  }
}

/** Answers after which a client repeats or corrects the request are not stored. */
const isTransient = (status: number) => status >= 500 || status === 429 || status === 400

const buildLostAnswerError = () =>
  conflict(
    'the first request with this Idempotency-Key was carried out, but its answer was lost; check its effect before you send the request with another key',
  )

/**
 * `Idempotency-Key` on every authenticated POST below /api/v1 (docs/design/api.md#idempotency-keys): the same request gets
 * the first answer again; another request, a request that still runs and a lost answer are 409. Stored answers are
 * encrypted.
 */
export function addIdempotency(app: App, { db, secrets }: { db: Db; secrets: SecretCipher }): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (!hasIdempotencyKey(request)) return done()
    sendKnownAnswer(request, reply).then(isAnswered => isAnswered || done(), done)
  })

  /** Claims the key for this request; or sends the stored answer and returns true. */
  async function sendKnownAnswer(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const claim = { projectId: getCaller(request).projectId, key: parseIdempotencyKey(request), at: now() }
    const requestHash = sha256(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`)
    if (await takeIdempotencyKey(db, claim, requestHash)) {
      request.idempotencyClaim = claim
      return false
    }
    const stored = await findStoredAnswer(db, claim)
    if (stored && !stored.requestHash.equals(requestHash)) {
      throw conflict('this Idempotency-Key was already used for a different request')
    }
    if (!stored?.answer || stored.status === null) {
      if (stored && isAbandoned(stored, claim.at)) throw buildLostAnswerError()
      throw conflict('the first request with this Idempotency-Key is still being processed')
    }
    sendStoredAnswer(reply, stored.status, secrets.decrypt(stored.answer, buildBinding(claim)))
    return true
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const claim = request.idempotencyClaim
    if (!claim) return done()
    request.idempotencyClaim = null
    settle(claim, request, reply.statusCode, String(payload ?? '')).then(() => done(), done)
  })

  /** Stores the answer, or releases the key when the answer is not to be stored. */
  async function settle(
    claim: IdempotencyClaim,
    request: FastifyRequest,
    status: number,
    answer: string,
  ): Promise<void> {
    try {
      if (!isTransient(status)) await storeEncrypted(claim, status, answer)
      else if (!(await releaseIdempotencyKey(db, claim))) {
        const error = buildLostAnswerError()
        await storeEncrypted(claim, error.status, JSON.stringify(toErrorBody(error)))
      }
    } catch (error) {
      // the request was carried out, so its answer must be sent even if it cannot be stored
      request.log.error({ err: error, request_id: request.id }, 'could not store the answer of an idempotent request')
    }
  }

  const storeEncrypted = (claim: IdempotencyClaim, status: number, answer: string) =>
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

/** For key rotation. */
export const ENCRYPTED_IDEMPOTENCY_COLUMNS: EncryptedColumn[] = [
  {
    table: 'idempotency_keys',
    column: 'answer',
    key: ['project_id', 'key'],
    needs: [],
    getBinding: row => buildBinding({ projectId: row.project_id!, key: row.key! }),
  },
]
